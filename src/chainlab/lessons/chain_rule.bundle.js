"use strict";
(()=>{var dataOf=root=>JSON.parse(root.querySelector("script[type='application/json']").textContent);var startAll=(selector,start)=>{
for(const root of document.querySelectorAll(`${selector}:not([data-ready])`)){root.dataset.ready="";
start(root,dataOf(root))}};var keepKeys=element=>element.addEventListener("keydown",event=>{if(!event.
ctrlKey&&!event.metaKey)event.stopPropagation()});var digits=x=>x.toFixed(4).replace("-","−");var signed=x=>(x>0?"+":"")+x.toPrecision(4).replace("-",
"−");startAll(".chaingrad-chain",(root,{at,x,b,slopes,scales,unit,y})=>{const all=selector=>[...root.
querySelectorAll(selector)];const[slider,words,slope,went,moved]=["input",".cg-words b",".cg-slope",
".cg-went",".cg-moved"].map(selector=>root.querySelector(selector));const[values,moves,ratios]=[".cg\
-name i",".cg-move",".cg-factor i"].map(all);const[picks,threads]=["button",".cg-threads"].map(all);
let scale=1;const show=()=>{const nudge=scale*slider.value/100;const p=(at[0]+nudge)*x;const far=[nudge,
p-at[1],p+b-at[2],Math.tanh(p+b)-at[3]];const px=far.map(move=>unit*move/scale);far.forEach((move,i)=>{
values[i].textContent=digits(at[i]+move);moves[i].textContent=nudge?signed(move):"0";if(i)ratios[i-1].
textContent=nudge?digits(move/far[i-1]):"?"});went.setAttribute("d",`M${px.map((place,i)=>`${place} ${y[i]}`).
join("L")}`);moved.setAttribute("d",px.map((place,i)=>`M0 ${y[i]}H${place}`).join(""));slope.setAttribute(
"d",`M${px[2]} ${y[2]}L${px[2]*slopes[2]} ${y[3]-9}V${y[3]+9}`);words.textContent=nudge?digits(far[3]/
nudge):"0 ÷ 0";const heard=nudge?`${signed(nudge)}, h moves ${words.textContent} times as far`:"non\
e";slider.setAttribute("aria-valuetext",heard)};picks.forEach((pick,chosen)=>{pick.addEventListener(
"click",()=>{scale=scales[chosen];picks.forEach((other,i)=>other.setAttribute("aria-pressed",String(
i===chosen)));threads.forEach((thread,i)=>thread.toggleAttribute("hidden",i!==chosen));show()})});slider.
addEventListener("input",show);root.querySelector(".cg-controls").hidden=slider.hidden=false;keepKeys(
root);show()});})();
