"use strict";
(()=>{var make=(name,properties={},...inside)=>{const element=document.createElement(name);for(const[key,value]of Object.
entries(properties)){if(key in element)element[key]=value;else element.setAttribute(key,value)}element.
append(...inside);return element};var dataOf=root=>JSON.parse(root.querySelector("script[type='application/json']").textContent);var startAll=(selector,start)=>{
for(const root of document.querySelectorAll(`${selector}:not([data-ready])`)){root.dataset.ready="";
start(root,dataOf(root))}};var keepKeys=element=>element.addEventListener("keydown",event=>{if(!event.
ctrlKey&&!event.metaKey)event.stopPropagation()});var UNITS=[[1e12," T"],[1e9," G"],[1e6," M"],[1e3," k"],[1,""]];var written=flops=>{const number=Number(
flops.toPrecision(3));const[unit,letter]=UNITS.find(([one])=>number>=one);return(number/unit).toPrecision(
3)+letter};var sum=xs=>xs.reduce((total,x)=>total+x,0);startAll(".chaingrad-flops",(root,{inputs,outputs,
batches,sizes})=>{const bar=root.querySelector(".cg-controls");const[n,width,depth]=bar.querySelectorAll(
"input[type=range]");const wish=bar.querySelector("[type=checkbox]");const body=root.querySelector("\
tbody");const show=()=>{const chosen=[batches[n.value],sizes[width.value],Number(depth.value)+1];[n,
width,depth].forEach((slider,i)=>{slider.setAttribute("aria-valuetext",String(chosen[i]));slider.parentElement.
querySelector("b").textContent=chosen[i].toLocaleString("en")});const[examples,units,layers]=chosen;
const ends=[inputs,...Array.from({length:layers-1},()=>units),outputs];const step=Array.from({length:layers},
(_,i)=>{const one=2*examples*ends[i]*ends[i+1];return[one,one,i||wish.checked?one:0]});const largest=Math.
max(...step.map(([one])=>one));while(body.rows.length>layers)body.deleteRow(-1);step.forEach((products,i)=>{
const row=body.rows[i]??body.appendChild(body.rows[0].cloneNode(true));row.cells[0].textContent=String(
i+1);products.forEach((flops,k)=>{const cell=row.cells[k+1];cell.querySelector("i").style.width=`${(100*
flops/largest).toFixed(2)}%`;cell.querySelector("span").textContent=flops?written(flops):"not needed"})});
const forward=sum(step.map(([one])=>one));const backward=sum(step.map(([,weights,before])=>weights+before));
const bold=text=>make("b",{},text);root.querySelector(".cg-words").replaceChildren("Forward ",bold(written(
forward)),", backward ",bold(written(backward)),", which is ",bold((backward/forward).toFixed(2))," \
times as much.")};for(const control of[n,width,depth,wish])control.addEventListener("input",show);bar.
hidden=false;keepKeys(root)});})();
