"use strict";
(()=>{var dataOf=root=>JSON.parse(root.querySelector("script[type='application/json']").textContent);var startAll=(selector,start)=>{
for(const root of document.querySelectorAll(`${selector}:not([data-ready])`)){root.dataset.ready="";
start(root,dataOf(root))}};startAll(".chaingrad-moving[data-kind=written]",root=>{const rows=[...root.querySelectorAll("[data-n\
odes]")];const nodesOf=row=>row.dataset.nodes.split(" ");const light=(ids,lines)=>{for(const row of rows)
row.classList.toggle("cg-on",lines.includes(row));for(const group of root.querySelectorAll("[data-no\
de]"))group.classList.toggle("cg-on",ids.includes(group.dataset.node));for(const group of root.querySelectorAll(
"[data-to]"))group.classList.toggle("cg-on",ids.includes(group.dataset.to))};const at=({target})=>{const row=target.
closest("[data-nodes]");if(row)return light(nodesOf(row),[row]);const id=target.closest("[data-node]")?.
dataset.node;light(id?[id]:[],rows.filter(each=>nodesOf(each).includes(id)))};for(const event of["po\
interover","focusin","click"])root.addEventListener(event,at);root.addEventListener("pointerleave",()=>light(
[],[]))});})();
