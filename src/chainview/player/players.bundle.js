"use strict";
(()=>{var make=(name,properties={},...inside)=>{const element=document.createElement(name);for(const[key,value]of Object.
entries(properties)){if(key in element)element[key]=value;else element.setAttribute(key,value)}element.
append(...inside);return element};var makeButton=(text,onclick,properties={})=>make("button",{type:"\
button",onclick,...properties},text);var makeShape=(name,attributes)=>{const shape=document.createElementNS(
"http://www.w3.org/2000/svg",name);for(const[key,value]of Object.entries(attributes))shape.setAttribute(
key,value);return shape};var dataOf=root=>JSON.parse(root.querySelector("script[type='application/json']").textContent);var startAll=(selector,start)=>{
for(const root of document.querySelectorAll(`${selector}:not([data-ready])`)){root.dataset.ready="";
start(root,dataOf(root))}};var ICONS={play:"M4 2l10 6-10 6z",pause:"M3 2h4v12H3zM9 2h4v12H9z",back:"M12 2v12L4 8zM2 2h2v12H2z",
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
event.preventDefault();event.stopPropagation()})}};var Phases=class{constructor(phases,jump){this.bar=make("div",{class:"cg-bar cg-top"});this.buttons=
phases.map((phase,i)=>makeButton(phase,()=>jump(i)));this.bar.append(...this.buttons);if(!phases.includes(
"Backward"))return;const colors='<span class="l">local gradient</span><span class="g">adjoint</span>';
this.bar.append(make("div",{class:"cg-legend",innerHTML:colors}))}show({phase}){this.buttons.forEach(
(jump,i)=>{if(i===phase)jump.setAttribute("aria-current","step");else jump.removeAttribute("aria-cur\
rent")})}};var Words=class{constructor(steps){this.place=make("div",{class:"cg-place"});this.said=make(
"p",{class:"cg-words","aria-live":"polite","aria-atomic":"true"});const all=steps.map(({words})=>make(
"p",{"aria-hidden":"true",innerHTML:words}));this.place.append(...all,this.said)}show({words}){this.
said.innerHTML=words}};var Details=class{constructor(){const title=make("summary",{},"Details: sums,\
 arrays, long names");this.fold=make("details",{},title);this.entries=make("div",{class:"cg-entries",
tabindex:"0",role:"group","aria-label":"Details of this step"});this.fold.append(this.entries)}show({
entries}){const boxes=entries.map(([title,text])=>{return make("div",{},make("div",{innerHTML:title}),
make("pre",{},text))});this.entries.replaceChildren(...boxes);if(!boxes.length)this.entries.textContent=
"The line above says all of this step."}};var Drawing=class{constructor(svg){this.svg=svg;this.width=+svg.getAttribute("width");this.height=+svg.
getAttribute("height");this.least=1;this.nodes={};this.edges={};for(const group of svg.querySelectorAll(
"[data-node]")){const slots=this.nodes[group.dataset.node]={group};for(const text of group.querySelectorAll(
"[data-slot]"))slots[text.dataset.slot]=text}for(const group of svg.querySelectorAll("[data-from]")){
(this.edges[`${group.dataset.from} ${group.dataset.to}`]??=[]).push(group)}}put(node,slot,text){const slots=this.
nodes[node];if(slot==="state")slots.group.dataset.state=text;else if(slots[slot])slots[slot].textContent=
text}edge(parent,child,which){return this.edges[`${parent} ${child}`][which]}carry(edge,above,below){
const texts=this.edge(...edge).querySelectorAll("text");[above,below].forEach((text,i)=>texts[i]&&(texts[i].
textContent=text))}};var fitting=(drawings,width,height=Infinity)=>{const scale=drawing=>Math.min(1,
width/drawing.width,height/drawing.height)/(drawing.least??1);const best=[...drawings].sort((a,b)=>scale(
b)-scale(a))[0];return drawings.find(drawing=>scale(drawing)>=1)??best};var calm=()=>matchMedia("(prefers-reduced-motion: reduce)").matches;var ease=part=>part<.5?2*part*part:
1-2*(1-part)**2;var Message=class{constructor(){this.dot=makeShape("circle",{class:"cg-dot",r:"6"});
this.end=()=>{}}send(edge,duration,[before,sum],write){this.settle();if(calm())return;const path=edge.
querySelector("path");const length=path.getTotalLength();const began=performance.now();const hold=sum?
duration*.9:0;let frame=0;this.end=()=>{cancelAnimationFrame(frame);this.dot.remove();write()};const move=now=>{
const time=Math.max(0,now-began);if(time>=duration+hold)return this.settle();if(time<duration){const{
x,y}=path.getPointAtLength(length*(1-ease(time/duration)));this.dot.setAttribute("cx",x);this.dot.setAttribute(
"cy",y)}else{this.dot.remove();write(sum)}frame=requestAnimationFrame(move)};edge.parentNode.append(
this.dot);if(before!==void 0)write(before);move(began)}settle(){const{end}=this;this.end=()=>{};end()}};var Stage=class{constructor(svgs,label){this.place=make("div",{class:"cg-scroll",tabindex:"0",role:"\
group","aria-label":"Graph. Left and right arrow: one step. Space: play or pause."});this.drawings=svgs.
map(svg=>this.read(svg.cloneNode(true),label));this.shown=this.drawings[0];this.place.append(this.shown.
svg);this.message=new Message;this.room=""}read(svg,label){const drawing=new Drawing(svg);drawing.least=
parseFloat(svg.style.minWidth)/drawing.width;svg.setAttribute("aria-label",label);svg.style.cssText=
"";return drawing}put(changes){this.message.settle();for(const drawing of this.drawings){for(const[node,
slot,text]of changes)drawing.put(node,slot,text)}}mark({nodes,edge,changes},beat){const{shown,message}=this;
message.settle();for(const drawing of this.drawings){for(const group2 of drawing.svg.querySelectorAll(
".cg-on"))group2.classList.remove("cg-on");if(this.marked)drawing.carry(this.marked,"","")}this.marked=
void 0;for(const node of nodes)shown.nodes[node].group.classList.add("cg-on");if(!edge)return;const[
parent,child,which,above,local,sum]=edge;const ends=[parent,child,which];const group=shown.edge(...ends);
group.classList.add("cg-on");if(above)shown.carry(ends,above,`× ${local}`);this.marked=ends;const[,
,after]=changes.find(([node,slot])=>node===parent&&slot==="grad")??[];const write=(text=after)=>shown.
put(parent,"grad",text);message.send(group,Math.min(700,beat*.5),sum??[],after?write:()=>{})}reveal({
nodes}){const{place,shown}=this;const view=place.getBoundingClientRect();const boxes=nodes.map(node=>shown.
nodes[node].group.getBoundingClientRect());const off=(low,high,size)=>{const from=Math.min(...boxes.
map(box=>box[low]))-view[low];const room=view[size]-(Math.max(...boxes.map(box=>box[high]))-view[low]-
from);return from-Math.max(12,room/2)};place.scrollBy({left:off("left","right","width"),top:off("top",
"bottom","height"),behavior:calm()?"auto":"smooth"})}fit(most){const style=getComputedStyle(this.place);
const sum=(...names)=>names.reduce((total,name)=>total+parseFloat(style[name]),0);const padding=sum(
"paddingTop","paddingBottom");const width=this.place.clientWidth-sum("paddingLeft","paddingRight");const height=most-
padding-12;if(!this.place.clientWidth||this.room===`${width} ${height}`)return false;this.room=`${width}\
 ${height}`;this.shown=fitting(this.drawings,width,height);const{svg,width:wide,height:high,least}=this.
shown;if(!svg.isConnected)this.place.replaceChildren(svg);const room=Math.min(width/wide,height/high);
const size=room<1?Math.max(least,room):Math.min(1.5,Math.max(1,.92*room));svg.style.width=`${wide*size}\
px`;svg.style.height=`${high*size}px`;this.place.style.maxHeight=`${Math.max(height,240)+padding}px`;
return true}};var Player=class{constructor(root){const{label,phases,start,steps}=dataOf(root);this.root=root;this.
steps=steps.map(([phase,words,nodes,edge,changes,entries])=>{return{phase,title:phases[phase],words,
nodes,edge,changes,entries}});this.at=-1;this.build(phases,label);this.stage.put(start);this.undo=this.
before(start)}build(phases,label){const{root,steps}=this;const frames=[...root.querySelectorAll(".cg\
-frames svg.chaingrad")];const others=root.querySelector("template").content.querySelectorAll("svg");
const jump=i=>this.go(steps.findIndex(({phase})=>phase===i));this.stage=new Stage([frames.at(-1),...others],
label);this.phases=new Phases(phases,jump);this.words=new Words(steps);this.bar=new Transport(steps.
length,k=>this.show(k));this.details=new Details;const live=make("div",{class:"cg-live"});if(phases.
length>1)live.append(this.phases.bar);live.append(this.stage.place,this.bar.bar,this.words.place);if(steps.
some(({entries})=>entries.length))live.append(this.details.fold);root.querySelector("script").before(
live)}before(start){const now=Object.fromEntries(start.map(([node,slot,text])=>[node+slot,text]));const note=([
node,slot,text])=>{const known=now[node+slot];now[node+slot]=text;return[node,slot,known]};return this.
steps.map(({changes})=>changes.map(note))}begin(){this.root.dataset.ready="";this.fit();this.bar.put(
0);new ResizeObserver(()=>this.fit()).observe(this.root);window.addEventListener("resize",()=>this.fit());
this.bar.listen(this.root)}fit(){const page=document.scrollingElement||document.documentElement;const framed=window!==
window.top;const view=framed?screen.availHeight*.8:page.clientHeight;const above=parseFloat(getComputedStyle(
page).scrollPaddingTop)||0;const rest=[this.phases.bar,this.words.place,this.bar.bar,this.details.fold.
firstChild];const room=rest.reduce((left,part)=>left-part.offsetHeight,view-above);if(this.stage.fit(
room)&&this.at>=0)this.stage.mark(this.steps[this.at],this.bar.beat)}show(to){while(this.at<to)this.
stage.put(this.steps[++this.at].changes);while(this.at>to)this.stage.put(this.undo[this.at--]);const step=this.
steps[to];this.stage.mark(step,this.bar.beat);this.stage.reveal(step);for(const part of[this.words,this.
phases,this.details])part.show(step);return step.title}go(k){this.bar.go(k)}};startAll(".chaingrad-player:not([data-kind])",root=>new Player(root).begin());})();
