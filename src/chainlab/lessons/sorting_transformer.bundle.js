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
event.preventDefault();event.stopPropagation()})}};function dragAlong(bar,plot,from,to){const move=event=>{
if(!event.buttons)return;const at=new DOMPoint(event.clientX,event.clientY);const{x}=at.matrixTransform(
plot.getScreenCTM().inverse());bar.go(Math.round((x-from)/(to-from)*bar.last))};plot.classList.add("\
cg-drag");plot.addEventListener("pointermove",move);plot.addEventListener("pointerdown",event=>{plot.
setPointerCapture(event.pointerId);move(event)})}function playOnce(bar,root,picture){let isTouched=false;
for(const type of["pointerdown","keydown"]){root.addEventListener(type,()=>isTouched=true,{capture:true})}
const seen=new IntersectionObserver(([{isIntersecting}])=>{if(!isIntersecting)return;seen.disconnect();
if(!isTouched)bar.play()},{threshold:.6});if(!matchMedia("(prefers-reduced-motion: reduce)").matches)
seen.observe(picture);addEventListener("beforeprint",()=>isTouched||bar.go(bar.last));addEventListener(
"afterprint",()=>isTouched||bar.go(0))}var SECONDS=8;var dense=(W,b,x)=>W.map((row,i)=>row.reduce((sum,w,j)=>sum+w*x[j],b[i]));var plus=(x,y)=>x.
map((value,i)=>value+y[i]);var mean=x=>x.reduce((sum,value)=>sum+value,0)/x.length;var norm=(gain,shift,x)=>{
const[mu,squares]=[mean(x),mean(x.map(value=>value*value))];const sigma=Math.sqrt(squares-mu*mu+1e-5);
return x.map((value,i)=>gain[i]*(value-mu)/sigma+shift[i])};var softmax=scores=>{const most=Math.max(
...scores);const powers=scores.map(score=>Math.exp(score-most));const sum=powers.reduce((a,b)=>a+b);
return powers.map(power=>power/sum)};var times=(x,y)=>x.reduce((sum,value,i)=>sum+value*y[i],0);var Net=class{constructor([
text,scales],shapes,heads){const bytes=Int8Array.from(atob(text),letter=>letter.charCodeAt(0));let from=0;
const take=(count,scale)=>[...bytes.subarray(from,from+=count)].map(byte=>byte*scale);this.heads=heads;
this.held=Object.fromEntries(shapes.map(([name,rows,columns],i)=>[name,columns?Array.from({length:rows},
()=>take(columns,scales[i])):take(rows,scales[i])]))}dense(name,x){return dense(this.held[`${name}.W`],
this.held[`${name}.b`],x)}norm(name,x){return norm(this.held[`${name}.gain`],this.held[`${name}.shif\
t`],x)}attention(name,rows,maps){const parts=rows.map(x=>this.dense(`${name}.qkv`,x));const width=rows[0].
length;const size=width/this.heads;const mixed=rows.map(()=>[]);for(let head=0;head<this.heads;head++){
const cut=(part,which)=>part.slice(which*width+head*size,which*width+(head+1)*size);const map=parts.
map((part,i)=>softmax(parts.slice(0,i+1).map(other=>times(cut(part,0),cut(other,1))/Math.sqrt(size))));
map.forEach((row,i)=>{const sum=Array.from({length:size},()=>0);row.forEach((part,j)=>cut(parts[j],2).
forEach((v,c)=>sum[c]+=part*v));mixed[i].push(...sum)});maps.push(map)}return mixed.map(x=>this.dense(
`${name}.out`,x))}run(line){const{digit,place}=this.held;const maps=[];let rows=line.map((d,i)=>plus(
digit[d],place[i]));for(const block of["blocks.0","blocks.1"]){const normed=rows.map(x=>this.norm(`${block}\
.norms.0`,x));const looked=this.attention(`${block}.attention`,normed,maps);rows=rows.map((x,i)=>plus(
x,looked[i])).map(x=>{const h=this.dense(`${block}.up`,this.norm(`${block}.norms.1`,x));return plus(
x,this.dense(`${block}.down`,h.map(a=>Math.max(a,0))))})}return{scores:this.dense("head",this.norm("\
norm",rows.at(-1))),maps}}sort(digits){const line=[...digits];let maps;for(let i=0;i<digits.length;i++){
const found=this.run(line);maps=found.maps;line.push(found.scores.indexOf(Math.max(...found.scores)))}
return{said:line.slice(digits.length),maps}}};startAll(".chaingrad-sorter:has(.cg-live)",(root,data)=>{
if(!data.packs)return;const{packs,shapes,heads,every,losses,right,tops,ends}=data;const find=selector=>root.
querySelector(selector);const all=selector=>[...root.querySelectorAll(selector)];const nets=packs.map(
()=>null);const cells=all(".cg-cell");const[columns,outs]=[all(".cg-digit"),all(".cg-said")];let digits=[
...data.typed].map(Number);let map=data.shown[0]*heads+data.shown[1];let isBySize=false;const show=k=>{
nets[k]??=new Net(packs[k],shapes,heads);const{said,maps}=nets[k].sort(digits);const ordered=[...digits].
sort();const isRight=said.every((digit,i)=>digit===ordered[i]);const places=[...digits.keys()];if(isBySize)
places.sort((a,b)=>digits[a]-digits[b]);const typed=places.map(place=>digits[place]);[...typed,...said.
slice(0,-1)].forEach((d,j)=>columns[j].textContent=String(d));let at=0;said.forEach((digit,i)=>{outs[i].
textContent=String(digit);outs[i].classList.toggle("cg-wrong",digit!==ordered[i]);const row=maps[map][5+
i];[...places.map(place=>row[place]),...row.slice(6)].forEach((part,j)=>{const cell=cells[at++];cell.
classList.toggle("cg-there",j<6&&typed[j]===ordered[i]);cell.lastElementChild.setAttribute("fill-opa\
city",part.toFixed(2))})});const x=ends[0]+(ends[1]-ends[0])*k/(packs.length-1);find(".cg-mark").setAttribute(
"transform",`translate(${x.toFixed(1)})`);find(".cg-mark circle").setAttribute("cy",tops[k]);const missing=digits.
length-field.value.length;result.textContent=missing?"":said.join("");result.classList.toggle("cg-wr\
ong",!isRight);verdict.textContent=isRight?"✓":`✗, it should be ${ordered.join("")}`;if(missing)
verdict.textContent=`${missing} more`;const words=`loss ${losses[k].toPrecision(2)}, sorts ${right[k]}\
 of 100 new sequences`;find(".cg-words").textContent=`After ${k*every} steps: ${words}.`;find(".cg-m\
ap").setAttribute("aria-label",`${digits.join("")} becomes ${said.join("")}, ${isRight?"right":"wron\
g"}. `+said.map((d,i)=>`${d}: looks most at ${most(maps[map][5+i],said)}`).join("; "));return words};
const most=(row,said)=>{const at=row.indexOf(Math.max(...row));return`the ${at<6?digits[at]:said[at-
6]} ${at<6?"typed":"answered"} (${Math.round(100*row[at])} %)`};const field=make("input",{type:"text",
inputMode:"numeric",maxLength:6,size:6,value:data.typed,autocomplete:"off",spellcheck:false,"aria-la\
bel":"Six digits to sort"});const result=make("output",{className:"cg-result"});const verdict=make("\
span",{className:"cg-verdict"});const take=text=>{field.value=text.replace(/\D/g,"").slice(0,6);if(field.
value.length===6)digits=[...field.value].map(Number);show(bar.at)};field.addEventListener("input",()=>take(
field.value));const draw=()=>take(Array.from({length:6},()=>Math.floor(10*Math.random())).join(""));
find(".cg-ask").append(make("label",{},"Your digits ",field),makeButton("Other digits",draw),make("s\
pan",{className:"cg-sorted"},"the net says ",result," ",verdict));find(".cg-ask").hidden=false;const picks=Array.
from({length:2*heads},(_,i)=>makeButton(`layer ${1+Math.floor(i/heads)}, head ${1+i%heads}`,()=>{map=
i;picks.forEach((pick,j)=>pick.setAttribute("aria-pressed",String(i===j)));show(bar.at)},{"aria-pres\
sed":String(i===map)}));const arrange=makeButton("By size",()=>{isBySize=!isBySize;arrange.setAttribute(
"aria-pressed",String(isBySize));find(".cg-head").textContent=isBySize?"what you typed, by size":"wh\
at you typed";show(bar.at)},{"aria-pressed":"false"});const bar=new Transport(packs.length,show,{beat:1e3*
SECONDS/packs.length,first:0,every});const group={role:"group",ariaLabel:"Whose map",className:"cg-b\
ar cg-picks"};find(".cg-live").append(bar.bar,make("div",group,...picks,arrange));dragAlong(bar,find(
".cg-loss"),ends[0],ends[1]);playOnce(bar,root,find(".cg-map"));bar.listen(root);keepKeys(root);bar.
put(0)});})();
