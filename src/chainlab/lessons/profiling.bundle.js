"use strict";
(()=>{var dataOf=root=>JSON.parse(root.querySelector("script[type='application/json']").textContent);var startAll=(selector,start)=>{
for(const root of document.querySelectorAll(`${selector}:not([data-ready])`)){root.dataset.ready="";
start(root,dataOf(root))}};var keepKeys=element=>element.addEventListener("keydown",event=>{if(!event.
ctrlKey&&!event.metaKey)event.stopPropagation()});startAll(".chaingrad-step",(root,steps)=>{const[input,output,said]=["input","output",".cg-words"].map(
choice=>root.querySelector(choice));const rows=[...root.querySelectorAll(".cg-row")];const kinds=root.
querySelectorAll("dd");const place=(bar,start,end)=>{bar.style.left=`${start/100}%`;bar.style.width=
`${(end-start)/100}%`};const show=()=>{const{batch,spans,bars,parts,words}=steps[input.value];rows.forEach(
(row,k)=>{const[start,end]=spans[k];place(row.querySelector("b"),start,end);row.querySelector("span").
textContent=`${Math.round((end-start)/100)} %`;row.querySelectorAll("i").forEach((bar,i)=>place(bar,
bars[k][2*i],bars[k][2*i+1]))});kinds.forEach((kind,k)=>kind.textContent=`${parts[k]} %`);output.textContent=
batch;said.textContent=words;input.setAttribute("aria-valuetext",`${batch} examples`)};input.addEventListener(
"input",show);input.parentElement.hidden=false;keepKeys(root);show()});})();
