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
event.preventDefault();event.stopPropagation()})}};function playOnce(bar,root,picture){let isTouched=false;for(const type of["pointerdown","keydown"]){
root.addEventListener(type,()=>isTouched=true,{capture:true})}const seen=new IntersectionObserver(([
{isIntersecting}])=>{if(!isIntersecting)return;seen.disconnect();if(!isTouched)bar.play()},{threshold:.6});
if(!matchMedia("(prefers-reduced-motion: reduce)").matches)seen.observe(picture);addEventListener("b\
eforeprint",()=>isTouched||bar.go(bar.last));addEventListener("afterprint",()=>isTouched||bar.go(0))}startAll(".chaingrad-functions",(root,data)=>{const[retain,again,words]=["input","button",".cg-words"].
map(selector=>root.querySelector(selector));const[boxes,edges]=["[data-at]","[data-edge]"].map(selector=>[
...root.querySelectorAll(selector)]);let calls=data.off;let called=1;const frame=k=>calls.slice(0,called).
flat()[k];const show=k=>{const{at,sent,boxes:texts,stops,words:says}=frame(k);for(const box of boxes){
const[keeps,got]=texts[box.dataset.at];box.querySelector(".cg-keeps").textContent=keeps;box.querySelector(
".cg-got").textContent=got;box.classList.toggle("cg-now",box.dataset.at===at);box.classList.toggle("\
cg-stops",stops&&box.dataset.at===at);box.classList.toggle("cg-freed",keeps==="freed")}for(const edge of edges){
const[from,to]=edge.dataset.edge.split("-");edge.classList.toggle("cg-sent",from===at&&sent.includes(
to))}words.innerHTML=says;words.classList.toggle("cg-stopped",stops);again.disabled=called===calls.length;
return words.textContent};const transport=new Transport(calls[0].length,show,{beat:2200,first:0});const extend=count=>{
called=count;transport.last=calls.slice(0,count).flat().length-1;transport.slider.max=String(transport.
last);transport.at=-1;transport.go(calls.slice(0,count-1).flat().length)};again.addEventListener("cl\
ick",()=>{extend(called+1);if(matchMedia("(prefers-reduced-motion: reduce)").matches)transport.go(transport.
last);else transport.play()});retain.addEventListener("change",()=>{calls=retain.checked?data.on:data.
off;extend(1)});root.querySelector(".cg-live").append(transport.bar);root.querySelector(".cg-control\
s").hidden=false;transport.put(0);transport.listen(root);playOnce(transport,root,root.querySelector(
".cg-words"));keepKeys(root)});})();
