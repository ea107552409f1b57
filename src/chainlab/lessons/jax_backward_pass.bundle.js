"use strict";
(()=>{var make=(name,properties={},...inside)=>{const element=document.createElement(name);for(const[key,value]of Object.
entries(properties)){if(key in element)element[key]=value;else element.setAttribute(key,value)}element.
append(...inside);return element};var makeButton=(text,onclick,properties={})=>make("button",{type:"\
button",onclick,...properties},text);var dataOf=root=>JSON.parse(root.querySelector("script[type='application/json']").textContent);var startAll=(selector,start)=>{
for(const root of document.querySelectorAll(`${selector}:not([data-ready])`)){root.dataset.ready="";
start(root,dataOf(root))}};var keepKeys=element=>element.addEventListener("keydown",event=>{if(!event.
ctrlKey&&!event.metaKey)event.stopPropagation()});var ICONS={play:"M4 2l10 6-10 6z",pause:"M3 2h4v12H3zM9 2h4v12H9z",back:"M12 2v12L4 8zM2 2h2v12H2z",
next:"M4 2v12l8-6zM12 2h2v12h-2z"};var icon=name=>`<svg viewBox="0 0 16 16" aria-hidden="true"><path\
 d="${ICONS[name]}"/></svg>`;var SHORTEST=20;var Transport=class{constructor(count,show,{beat=1400,first=1,
every=1}={}){this.show=show;this.normal=beat;this.number=k=>k*every+first;this.last=count-1;this.at=
-1;this.timer=0;const named=(name,title,act)=>makeButton("",act,{innerHTML:icon(name),"aria-label":title,
title});this.back=named("back","One step back",()=>this.go(this.at-1));this.next=named("next","One s\
tep forward",()=>this.go(this.at+1));this.button=named("play","Play",()=>this.toggle());this.button.
classList.add("cg-play");const range={type:"range",min:"0",max:String(this.last),value:"0"};this.slider=
make("input",{...range,"aria-label":"Step",autocomplete:"off"});this.slider.addEventListener("input",
()=>this.go(+this.slider.value));this.place=make("span");this.place.style.minWidth=`${this.said(this.
last).length}ch`;this.count=make("span",{class:"cg-count"},make("span",{},"step "),this.place);const option=x=>make(
"option",{value:x,defaultSelected:x===1},`${x}×`);this.speed=make("select",{"aria-label":"Speed"},...[
.5,1,2,4].map(option));this.bar=make("div",{class:"cg-bar cg-transport"});this.bar.append(this.back,
this.button,this.next,this.slider,this.count,this.speed)}get beat(){return this.normal/+this.speed.value}said(k){
return`${this.number(k)} of ${this.number(this.last)}`}put(k){const to=Math.max(0,Math.min(this.last,
k));if(to===this.at)return;this.at=to;const more=this.show(to);this.slider.value=String(to);this.place.
textContent=this.said(to);this.slider.setAttribute("aria-valuetext",`${this.said(to)}, ${more}`);this.
back.disabled=to===0;this.next.disabled=to===this.last}go(k){this.pause();this.put(k)}toggle(){if(this.
timer)this.pause();else this.play()}pause(){clearTimeout(this.timer);this.timer=0;this.offer("play",
"Play")}play(){if(this.at===this.last)this.put(0);this.offer("pause","Pause");this.wait()}wait(){const stride=Math.
max(1,Math.round(SHORTEST/this.beat));this.timer=setTimeout(()=>{if(!this.bar.isConnected)return;this.
put(this.at+stride);if(this.at===this.last)this.pause();else this.wait()},stride*this.beat)}offer(name,text){
this.button.innerHTML=icon(name);this.button.setAttribute("aria-label",text);this.button.title=text}listen(root){
root.addEventListener("keydown",event=>{if(event.altKey||event.ctrlKey||event.metaKey)return;const own=event.
target.closest("button, select, summary, input, pre");const moves={ArrowLeft:this.at-1,ArrowRight:this.
at+1,Home:0,End:this.last};if(event.key in moves&&!event.target.closest("select, input, .cg-entries")){
this.go(moves[event.key])}else if(event.key===" "&&(!own||own===this.slider)){this.toggle()}else{return}
event.preventDefault();event.stopPropagation()})}};var written=(x,digits)=>(Math.round(x*10**digits)/10**digits+0).toFixed(digits).replace("-","−");startAll(
".chaingrad-three",(root,{lines,recorded,mirrors,step})=>{const[slider,controls,told]=[".cg-controls\
 input",".cg-controls",".cg-told"].map(s=>root.querySelector(s));const all=selector=>[...root.querySelectorAll(
selector)];const[picks,rows,words,results]=[".cg-bar button",".cg-line",".cg-told div",".cg-out"].map(
all);const theirs=all(".cg-jax span b");const ends=[2,7,11];const compute={sin:a=>Math.sin(a),mul:(a,b)=>a*
b,add:(a,b)=>a+b};let changed=0;const show=()=>{const x=+slider.value;const v={x,y:2,2:2,c:Math.cos(
x),dx:1-changed,dy:changed,r̄:1};for(const[name,operation,operands]of lines){v[name]=compute[operation](
...operands.split(" ").map(operand=>v[operand]))}all("[data-v]").forEach(b=>b.textContent=written(v[b.
dataset.v],+b.dataset.d));recorded[Math.round(x/step)].forEach((g,i)=>theirs[i].textContent=written(
g,4));slider.setAttribute("aria-valuetext",`x is ${written(x,1)}`)};const light=k=>{const name=lines[k][0];
rows.forEach((row,i)=>{const it=row.dataset.line;row.classList.toggle("cg-lit",i===k);row.classList.
toggle("cg-later",i>k);row.classList.toggle("cg-mirror",i<k&&mirrors[it]===name)});results.forEach((result,i)=>result.
classList.toggle("cg-later",ends[i]>k));words.forEach((text,i)=>text.hidden=i!==k);return words[k].textContent};
const transport=new Transport(lines.length,light);picks.forEach((pick,chosen)=>{pick.addEventListener(
"click",()=>{changed=chosen;picks.forEach((other,i)=>other.setAttribute("aria-pressed",String(i===chosen)));
show()})});slider.addEventListener("input",show);told.before(transport.bar);controls.hidden=false;keepKeys(
root);show();transport.put(lines.length-1)});})();
