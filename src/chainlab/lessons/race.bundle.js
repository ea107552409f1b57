"use strict";
(()=>{var Drawing=class{constructor(svg){this.svg=svg;this.width=+svg.getAttribute("width");this.height=+svg.
getAttribute("height");this.least=1;this.nodes={};this.edges={};for(const group of svg.querySelectorAll(
"[data-node]")){const slots=this.nodes[group.dataset.node]={group};for(const text of group.querySelectorAll(
"[data-slot]"))slots[text.dataset.slot]=text}for(const group of svg.querySelectorAll("[data-from]")){
(this.edges[`${group.dataset.from} ${group.dataset.to}`]??=[]).push(group)}}put(node,slot,text){const slots=this.
nodes[node];if(slot==="state")slots.group.dataset.state=text;else if(slots[slot])slots[slot].textContent=
text}edge(parent,child,which){return this.edges[`${parent} ${child}`][which]}carry(edge,above,below){
const texts=this.edge(...edge).querySelectorAll("text");[above,below].forEach((text,i)=>texts[i]&&(texts[i].
textContent=text))}};var dataOf=root=>JSON.parse(root.querySelector("script[type='application/json']").textContent);var startAll=(selector,start)=>{
for(const root of document.querySelectorAll(`${selector}:not([data-ready])`)){root.dataset.ready="";
start(root,dataOf(root))}};var keepKeys=element=>element.addEventListener("keydown",event=>{if(!event.
ctrlKey&&!event.metaKey)event.stopPropagation()});var LONGEST=30;var SENDS=5;var written=x=>x.toLocaleString("en");var swept=part=>(i,count)=>i<Math.round(
part*count);var run=part=>(i,count)=>count-1-i<Math.round(part*count);var none=swept(0);var place=(neurons,at)=>{
for(let neuron=neurons;;neuron--){const below=SENDS*(2**(neuron-1)-1);if(!at)return[neuron,0];at-=1;
if(at<below)continue;at-=below;if(at<SENDS-1)return[neuron,at+1];at-=SENDS-1}};var contests={nudging({
size,arrows,seconds:all},seconds){const[left,right]=[Math.min(seconds,all),Math.min(seconds,2)];const runs=Math.
floor(left);const found=Math.max(0,runs-1);const back=Math.max(0,right-1);const there=run(left<all?left-
runs:1);const nudged=left<all?runs:0;return[{counts:[runs,Math.floor(left*arrows),found],there,nudged,
found},{counts:[Math.floor(right),Math.floor(right*arrows),Math.floor(back*size)],there:run(Math.min(
1,right)),back:swept(back)}]},sending({size,arrows,totals:[[all]]},seconds){const sent=Math.min(all,
Math.floor(seconds*arrows));const below=SENDS*(2**(size-1)-1);const[neuron,send]=sent&&sent<all?place(
size,sent-1):[];const back=(i,count)=>i<SENDS?sent>(i&&below)+i:sent>=size+Math.max(-1,i-count+SENDS);
const now=(i,count)=>neuron===size&&i===send||neuron===1&&i-count+SENDS===send;return[{counts:[sent],
back,now},{counts:[Math.min(arrows,Math.floor(seconds*arrows))],back:swept(seconds)}]}};var startLane=(element,{
edges,knobs})=>{const counters=[...element.querySelectorAll("dd")];const pictures=[...element.querySelectorAll(
".cg-picture")];const drawings=pictures.map(picture=>new Drawing(picture.querySelector("svg")));let chosen;
const write=(totals,more)=>{counters.forEach(({lastChild},i)=>lastChild.textContent=`of ${written(totals[i])}`);
chosen=Math.min(more,pictures.length-1);pictures.forEach((picture,i)=>picture.hidden=i!==chosen);drawings.
at(-1)?.put("more","count",written(more))};const show=({counts,there=none,back=none,now=none,nudged=0,
found=0})=>{counters.forEach(({firstChild},i)=>firstChild.textContent=written(counts[i]));const drawing=drawings[chosen];
if(!drawing)return;const reached=new Set(knobs.slice(0,found));const order=edges[chosen];order.forEach(
(edge,i)=>{if(!edge)return;const{classList}=drawing.edge(...edge,0);const states={"cg-there":there,"\
cg-back":back,"cg-now":now};for(const[name,is]of Object.entries(states))classList.toggle(name,is(i,order.
length));if(back(i,order.length))edge.forEach(id=>reached.add(id))});const turned=nudged&&(knobs[nudged-
1]??"more");for(const[id,{group}]of Object.entries(drawing.nodes)){group.classList.toggle("cg-back",
reached.has(id));group.classList.toggle("cg-nudged",id===turned)}};return{write,show}};var startScene=(scene,data)=>{
const{name,asks,sweep,settings}=data;const[button,slider,clock,words,size]=["button","input",".cg-cl\
ock",".cg-words","label b"].map(selector=>scene.querySelector(selector));const lanes=[...scene.querySelectorAll(
".cg-lane")].map(lane=>startLane(lane,data));let setting;let timer;let passed=0;const show=seconds=>{
passed=seconds;clock.textContent=`${seconds.toFixed(1)} s`;contests[name](setting,seconds).forEach((lane,i)=>lanes[i].
show(lane));const{seconds:all,swept:then,ended}=setting;const says=seconds>=all?ended:seconds>=sweep?
then:asks;if(words.textContent!==says)words.textContent=says};const rest=next=>{cancelAnimationFrame(
timer);timer=void 0;button.textContent=next};const choose=()=>{rest("Start");setting=settings[slider.
value];size.textContent=written(setting.size);slider.setAttribute("aria-valuetext",size.textContent);
lanes.forEach((lane,i)=>lane.write(setting.totals[i],setting.more))};const arrive=()=>(choose(),show(
sweep));const start=()=>{const last=Math.min(LONGEST,setting.seconds);const from=button.textContent===
"Go on"?passed:0;let began;const move=now=>{began??=now;show(Math.min(last,from+(now-began)/1e3));if(passed<
last)timer=requestAnimationFrame(move);else rest("Start")};button.textContent="Pause";timer=requestAnimationFrame(
move)};button.addEventListener("click",()=>{if(timer)rest("Go on");else if(matchMedia("(prefers-redu\
ced-motion: reduce)").matches)arrive();else start()});slider.addEventListener("input",arrive);addEventListener(
"beforeprint",arrive);scene.querySelector(".cg-controls").hidden=false;choose();show(0);return()=>timer&&
rest("Go on")};startAll(".chaingrad-race",(root,data)=>{const scenes=[...root.querySelectorAll(".cg-\
scene")];const stops=scenes.map((scene,i)=>startScene(scene,data[i]));const picks=root.querySelectorAll(
".cg-picks button");picks.forEach((pick,chosen)=>{pick.addEventListener("click",()=>{stops.forEach(stop=>stop());
picks.forEach((other,i)=>other.setAttribute("aria-pressed",String(i===chosen)));scenes.forEach((scene,i)=>scene.
classList.toggle("cg-off",i!==chosen))})});keepKeys(root)});})();
