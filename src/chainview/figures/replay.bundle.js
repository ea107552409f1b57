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
"afterprint",()=>isTouched||bar.go(0))}var LETTERS="ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";var SECONDS=6;var APART=14;
var makeSwitch=(name,options,chosen,choose)=>{const buttons=options.map((text,i)=>makeButton(text,()=>press(
i),{"aria-pressed":String(i===chosen)}));const press=at=>{buttons.forEach((button,i)=>button.setAttribute(
"aria-pressed",String(i===at)));choose(at)};const group={role:"group","aria-label":name,class:"cg-sw\
itch"};return make("div",group,make("span",{},name),...buttons)};startAll('.chaingrad-lookup[data-ki\
nd="replay"]',(root,data)=>{const{switches,options,chosen,measure,every,panels,runs,measured}=data;const[
left,right]=panels;const find=selector=>root.querySelector(selector);const all=selector=>[...root.querySelectorAll(
selector)];const paths=all(".cg-curve").map((_,i)=>find(`.cg-curve-${i}`));const names=all(".cg-name").
reverse();const mark=find(".cg-mark");const box=paths[0].ownerSVGElement.viewBox.baseVal;let run;const top=({
base,fine},letters,at)=>base-fine*(64*LETTERS.indexOf(letters[2*at])+LETTERS.indexOf(letters[2*at+1]));
const line=(panel,letters,from=0)=>{const points=panel.x.map((x,p)=>`${x} ${top(panel,letters,from+p).
toFixed(1)}`);return`M${points.join("L")}`};const place=ends=>{const order=[...ends.keys()].sort((a,b)=>ends[a]-
ends[b]);let last=-Infinity;for(const i of order)last=ends[i]=Math.max(ends[i],box.y,last+APART);last=
box.y+box.height+APART;for(const i of order.reverse())last=ends[i]=Math.min(ends[i],last-APART);names.
forEach((name,i)=>name.setAttribute("y",i in ends?ends[i]+4:-99))};const show=k=>{const curves=runs[run].
slice(0,-1);const from=k*left.x.length;paths.forEach((path,i)=>{path.setAttribute("d",curves[i]?line(
left,curves[i],from):"M0 0")});place(curves.map(letters=>top(left,letters,from+left.x.length-1)));const[
x,y]=[right.x[k],top(right,runs[run].at(-1),k)];const value=mark.querySelector("text");mark.setAttribute(
"transform",`translate(${x})`);mark.querySelector("circle").setAttribute("cy",y);const isLate=k>.75*
bar.last;value.setAttribute("y",y-12);value.setAttribute("x",isLate?-8:8);value.setAttribute("text-a\
nchor",isLate?"end":"start");value.textContent=measured[run][k];const said=`${measure} ${measured[run][k]}`;
const step=`${data.step} ${k*every} of ${(right.x.length-1)*every}`;const words=[...switches.map((name,i)=>`${name}\
 ${options[i][chosen[i]]}`),step,said];find(".cg-setting").textContent=words.join(", ");find("[role=\
img]").setAttribute("aria-label",words.join(", "));return said};const choose=()=>{run=chosen.reduce(
(at,i,n)=>at*options[n].length+i,0);find(".cg-over").setAttribute("d",line(right,runs[run].at(-1)))};
const beat=1e3*SECONDS/right.x.length;const bar=new Transport(right.x.length,show,{beat,first:0,every});
find(".cg-live").append(bar.bar);switches.forEach((name,i)=>{const take=at=>{chosen[i]=at;choose();bar.
go(0);show(0);bar.play()};find(".cg-switches").append(makeSwitch(name,options[i],chosen[i],take))});
dragAlong(bar,mark.ownerSVGElement,right.x[0],right.x.at(-1));playOnce(bar,root,find("[role=img]"));
bar.listen(root);keepKeys(root);choose();bar.put(0)});})();
