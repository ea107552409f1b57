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
ctrlKey&&!event.metaKey)event.stopPropagation()});var number=x=>{const size=Math.abs(x);const text=size&&(size<.001||size>=1e6)?x.toExponential(2):+x.
toPrecision(4);const whole=text===x?`${text}.0`:x.toPrecision(4);return(Number.isInteger(text)?whole:
String(text)).replaceAll("-","−")};var startFigures=(kind,start)=>{startAll(`.chaingrad-moving[dat\
a-kind=${kind}]`,(root,data)=>{const live=root.querySelector(".cg-live");const graph=root.querySelector(
".cg-graph").cloneNode(true);live.prepend(graph);live.hidden=false;keepKeys(live);const drawings=[...graph.
querySelectorAll("svg")].map(svg=>new Drawing(svg));const boxes=id=>drawings.map(({nodes})=>nodes[id].
group);const put=(id,slot,x)=>{for(const{nodes}of drawings){const text=nodes[id][slot];if(text)text.
textContent=text.textContent.replace(/ .*/,` ${number(x)}`)}};const toggle=(id,name,on)=>boxes(id).map(
box=>box.classList.toggle(name,on));const find=selector=>live.querySelectorAll(selector);start({data,
drawings,boxes,put,toggle,find})})};var OPS={add:(a,b)=>a+b,subtract:(a,b)=>a-b,multiply:(a,b)=>a*b,divide:(a,b)=>a/b,power:Math.pow,negative:a=>-a,
absolute:Math.abs,maximum:(a,b)=>Math.max(a,b),minimum:(a,b)=>Math.min(a,b),less:(a,b)=>a<b,less_equal:(a,b)=>a<=
b,greater:(a,b)=>a>b,greater_equal:(a,b)=>a>=b,equal:(a,b)=>a===b,not_equal:(a,b)=>a!==b,isinf:a=>Math.
abs(a)===Infinity,isfinite:Number.isFinite,logical_and:(a,b)=>a&&b,logical_or:(a,b)=>a||b,logical_not:a=>!a,
where:(condition,a,b)=>condition?a:b,logaddexp:(a,b)=>a===b?a+Math.LN2:Math.max(a,b)+Math.log1p(Math.
exp(-Math.abs(a-b)))};for(const name of["sign","exp","log","sqrt","sin","cos","tanh","log1p","expm1"]){
OPS[name]=Math[name]}var run=({constants,code},inputs,count=code.length)=>{const values=[...inputs,...constants.
map(Number)];for(let i=0;i<count;i++){const[name,a,b,c]=code[i];values.push(OPS[name](values[a],values[b],
values[c]))}return values};startFigures("nudge",({data,boxes,put,toggle,find})=>{const{program,leaves,shown,top,plot,steps}=data;
const[wide,high]=plot;const[words,said]=find("p");const[picture,curve,tangent,point]=find(".cg-plot,\
 .cg-curve, .cg-tangent, circle");const sliders=find("input");const ids=leaves.map(leaf=>leaf.id);const parts=leaves.
map(()=>0);let inputs;let chosen=0;let timer;const result=x=>{const moved=[...inputs];moved[chosen]=
x;return+run(program,moved,program.forward)[top.at]};const drawPlot=(x,y,slope)=>{const{at,reach,text}=leaves[chosen];
const xs=Array.from({length:91},(_,i)=>at+reach*(i/45-1));const ys=xs.map(result);const sorted=[...ys,
y].filter(Number.isFinite).sort((a,b)=>a-b);const[least,most]=[sorted[1]??0,sorted.at(-2)??0];const room=.1*
(most-least)||Math.abs(least)||1;const px=v=>((v-at)/reach+1)*wide/2;const py=v=>high*(most+room-v)/
(most-least+2*room);const place=(u,v)=>`${px(u)} ${Math.max(-9999,Math.min(9999,py(v)))||0}`;let line="";
ys.forEach((v,i)=>{if(Number.isFinite(v))line+=(Number.isFinite(ys[i-1])?"L":"M")+place(xs[i],v)});const side=h=>`${px(
x+h)} ${py(y+slope*h)||0}`;curve.setAttribute("d",line);tangent.setAttribute("d",`M${side(-2*reach)}\
L${side(2*reach)}`);point.setAttribute("transform",`translate(${side(0)})`);const ends=[at-reach,at+
reach,least-room,most+room].map(number);[...ends,text].forEach((tick,i)=>find(".cg-plot text")[i].textContent=
tick)};const show=()=>{inputs=leaves.map(({at,reach:reach2},i)=>at+reach2*Math.round(parts[i])/steps);
const values=run(program,inputs).map(Number);for(const[id,value,grad2]of shown){put(id,"data",values[value]);
put(id,"grad",values[grad2])}const{html,text,reach,grad}=leaves[chosen];const[x,y,slope]=[inputs[chosen],
values[top.at],values[grad]];drawPlot(x,y,slope);const step=10**Math.floor(Math.log10(reach/5));words.
innerHTML=`${html} = <b>${number(x)}</b>: ${top.html} = <b>${number(y)}</b>, <span class="g">∂${top.
html}/∂${html} = <b>${number(slope)}</b></span>.<br>If ${html} grows by ${step}, the tangent rises\
 by ${number(step*slope)}, the curve by ${number(result(x+step)-y)}.`;const short=`${top.text} = ${number(
y)}, slope ${number(slope)}`;picture.setAttribute("aria-label",`${top.text} against ${text}, with th\
e tangent: ${short}`);clearTimeout(timer);timer=setTimeout(()=>said.textContent=short,300);sliders.forEach(
(slider,i)=>{const at=number(inputs[i]);slider.value=parts[i];slider.setAttribute("aria-valuetext",at);
slider.nextSibling.textContent=at;slider.parentNode.classList.toggle("cg-on",i===chosen);toggle(ids[i],
"cg-on",ids[i]===ids[chosen])})};const move=(i,part)=>{chosen=i;parts[i]=Math.max(-steps,Math.min(steps,
part));show()};const drag=(element,which,scale)=>{let from;element.addEventListener("pointerdown",event=>{
event.preventDefault();element.setPointerCapture(event.pointerId);sliders[which()].focus({preventScroll:true});
from=parts[which()]-event.clientX*scale});element.addEventListener("pointermove",event=>{if(element.
hasPointerCapture(event.pointerId))move(which(),from+event.clientX*scale)});element.classList.add("c\
g-drag")};sliders.forEach((slider,i)=>{slider.addEventListener("input",()=>move(i,+slider.value));slider.
addEventListener("focus",()=>move(i,parts[i]))});for(const id of new Set(ids)){const which=()=>ids[chosen]===
id?chosen:ids.indexOf(id);for(const box of boxes(id))drag(box,which,1)}drag(picture,()=>chosen,2*steps/
wide);find("button")[0].addEventListener("click",()=>(parts.fill(0),show()));show()});})();
