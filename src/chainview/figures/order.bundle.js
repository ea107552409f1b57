"use strict";
(()=>{var makeShape=(name,attributes)=>{const shape=document.createElementNS("http://www.w3.org/2000/svg",
name);for(const[key,value]of Object.entries(attributes))shape.setAttribute(key,value);return shape};
var actAsButton=(shape,act)=>{shape.setAttribute("role","button");shape.setAttribute("tabindex","0");
shape.addEventListener("click",act);shape.addEventListener("keydown",event=>{if(event.key!=="Enter"&&
event.key!==" ")return;event.preventDefault();act()});shape.addEventListener("focus",()=>{if(!shape.
matches(":focus-visible"))return;shape.querySelector(".cg-box").scrollIntoView({block:"nearest",inline:"\
nearest"})})};var dataOf=root=>JSON.parse(root.querySelector("script[type='application/json']").textContent);var startAll=(selector,start)=>{
for(const root of document.querySelectorAll(`${selector}:not([data-ready])`)){root.dataset.ready="";
start(root,dataOf(root))}};var keepKeys=element=>element.addEventListener("keydown",event=>{if(!event.
ctrlKey&&!event.metaKey)event.stopPropagation()});var calm=()=>matchMedia("(prefers-reduced-motion: reduce)").matches;var ease=part=>part<.5?2*part*part:
1-2*(1-part)**2;var Message=class{constructor(){this.dot=makeShape("circle",{class:"cg-dot",r:"6"});
this.end=()=>{}}send(edge,duration,[before,sum],write){this.settle();if(calm())return;const path=edge.
querySelector("path");const length=path.getTotalLength();const began=performance.now();const hold=sum?
duration*.9:0;let frame=0;this.end=()=>{cancelAnimationFrame(frame);this.dot.remove();write()};const move=now=>{
const time=Math.max(0,now-began);if(time>=duration+hold)return this.settle();if(time<duration){const{
x,y}=path.getPointAtLength(length*(1-ease(time/duration)));this.dot.setAttribute("cx",x);this.dot.setAttribute(
"cy",y)}else{this.dot.remove();write(sum)}frame=requestAnimationFrame(move)};edge.parentNode.append(
this.dot);if(before!==void 0)write(before);move(began)}settle(){const{end}=this;this.end=()=>{};end()}};var Drawing=class{constructor(svg){this.svg=svg;this.width=+svg.getAttribute("width");this.height=+svg.
getAttribute("height");this.least=1;this.nodes={};this.edges={};for(const group of svg.querySelectorAll(
"[data-node]")){const slots=this.nodes[group.dataset.node]={group};for(const text of group.querySelectorAll(
"[data-slot]"))slots[text.dataset.slot]=text}for(const group of svg.querySelectorAll("[data-from]")){
(this.edges[`${group.dataset.from} ${group.dataset.to}`]??=[]).push(group)}}put(node,slot,text){const slots=this.
nodes[node];if(slot==="state")slots.group.dataset.state=text;else if(slots[slot])slots[slot].textContent=
text}edge(parent,child,which){return this.edges[`${parent} ${child}`][which]}carry(edge,above,below){
const texts=this.edge(...edge).querySelectorAll("text");[above,below].forEach((text,i)=>texts[i]&&(texts[i].
textContent=text))}};var number=x=>{const size=Math.abs(x);const text=size&&(size<.001||size>=1e6)?x.toExponential(2):+x.
toPrecision(4);const whole=text===x?`${text}.0`:x.toPrecision(4);return(Number.isInteger(text)?whole:
String(text)).replaceAll("-","−")};var startFigures=(kind,start)=>{startAll(`.chaingrad-moving[dat\
a-kind=${kind}]`,(root,data)=>{const live=root.querySelector(".cg-live");const graph=root.querySelector(
".cg-graph").cloneNode(true);live.prepend(graph);live.hidden=false;keepKeys(live);const drawings=[...graph.
querySelectorAll("svg")].map(svg=>new Drawing(svg));const boxes=id=>drawings.map(({nodes})=>nodes[id].
group);const put=(id,slot,x)=>{for(const{nodes}of drawings){const text=nodes[id][slot];if(text)text.
textContent=text.textContent.replace(/ .*/,` ${number(x)}`)}};const toggle=(id,name,on)=>boxes(id).map(
box=>box.classList.toggle(name,on));const find=selector=>live.querySelectorAll(selector);start({data,
drawings,boxes,put,toggle,find})})};var TRAVELS=450;startFigures("order",({data,drawings,boxes,put,toggle,find})=>{const nodes=Object.fromEntries(
data.map(node=>[node.id,node]));const senders=data.filter(node=>node.sends.length).reverse();const leaves=data.
filter(node=>!node.sends.length);const root=data.at(-1);const[words]=find("p");const start=words.innerHTML;
const buttons=find("button");const message=new Message;let clicks=[];const play=()=>{const now={};let last;
for(const{id,sends}of data){now[id]={holds:+(id===root.id),came:0,clicks:0,sent:sends.map(()=>[])}}for(const id of clicks){
const[node,from]=[nodes[id],now[id]];const turn=from.clicks++%node.sends.length;const{to,local}=node.
sends[turn];if(from.came<node.waits)from.early??=from.came;now[to].came+=!from.sent[turn].length;now[to].
holds+=from.holds*local;from.sent[turn].push(from.holds);last={node,turn,local,above:from.holds,to}}
return[now,last]};const spent=({clicks:k,sent,holds})=>sent[k%sent.length].at(-1)===holds;const judge=now=>{
const faults=senders.flatMap(({id,html,waits})=>{const{early,sent}=now[id];const most=Math.max(...sent.
map(shares=>shares.length));return[early>=0?`<b>${html} was too early</b>: ${early} of its ${waits} \
shares had come. `:"",most>1?`${html} passed on ${most} times, and what went first went again. `:""]});
let verdict=faults.some(Boolean)?"Right, by luck":"Right";const ends=leaves.map(({id,html,right})=>{
const{holds}=now[id];const told=`${html} has ${number(holds)}`;if(Math.abs(holds-right)<=1e-12+1e-9*
Math.abs(right))return told;verdict="Wrong";return`${told} instead of ${number(right)}`});const more=senders.
filter(({id})=>!spent(now[id])).map(({html})=>html);const hint=more[0]?`${more.join(", ")} holds mor\
e by now, and can pass on again.`:"";return`<b>${verdict}</b>: ${ends.join(", ")}. ${faults.join("")}${hint}`};
const send=({node,turn,local,above,to},{holds})=>{const drawing=drawings.find(({svg})=>svg.getBoundingClientRect().
width);if(!drawing)return;const[share,known]=[above*local,holds-above*local];const sum=known?`${number(
known)} + ${number(share)}`.replace("+ −","− "):"";const write=(text=`grad ${number(holds)}`)=>drawing.
put(to,"grad",text);const edge=drawing.edge(to,node.id,node.sends[turn].which);message.send(edge,TRAVELS,
[`grad ${number(known)}`,sum],write)};const show=note=>{message.settle();const[now,last]=play();const done=senders.
every(({id,sends})=>now[id].clicks>=sends.length);for(const{id,text,sends}of data){const{holds,early,
sent}=now[id];const on=last?.node.id===id;put(id,"grad",holds);toggle(id,"cg-on",on);toggle(id,"cg-e\
arly",done&&early>=0);for(const box of sends.length?boxes(id):[]){box.setAttribute("aria-label",`${text}\
 holds ${number(holds)}: pass it on`)}sends.forEach(({to,which,local},turn)=>{const[first,...more]=sent[turn].
map(above=>above*local);const rest=more.reduce((sum,share)=>sum+share,0);for(const drawing of drawings){
const arrow=drawing.edge(to,id,which);arrow.classList.toggle("cg-sent",sent[turn].length);arrow.classList.
toggle("cg-on",on&&last.turn===turn);const texts=[first===void 0?"":number(first)];texts.push(more.length?
`+ ${number(rest)}`.replace("+ −","− "):"");drawing.carry([to,id,which],...texts)}})}let step=start;
if(last){const{node,above,local,to}=last;step=`<b>${node.html}</b> passes <span class="g">${number(above)}\
</span> × <span class="l">${number(local)}</span> = ${number(above*local)} to ${nodes[to].html}, wh\
ich now holds <b>${number(now[to].holds)}</b>. `}words.innerHTML=note??step+(done?judge(now):"");for(const button of buttons)
button.disabled=!last};const click=({id,html})=>{if(spent(play()[0][id]))return show(`${html} has pa\
ssed on all that it holds.`);clicks.push(id);show();const[now,last]=play();send(last,now[last.to])};
for(const node of senders){for(const box of boxes(node.id)){actAsButton(box,()=>click(node))}}buttons[0].
addEventListener("click",()=>(clicks.pop(),show()));buttons[1].addEventListener("click",()=>(clicks=
[],show()));for(const{svg}of drawings)svg.setAttribute("role","group");show()});})();
