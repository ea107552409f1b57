"use strict";
(()=>{var dataOf=root=>JSON.parse(root.querySelector("script[type='application/json']").textContent);var startAll=(selector,start)=>{
for(const root of document.querySelectorAll(`${selector}:not([data-ready])`)){root.dataset.ready="";
start(root,dataOf(root))}};var vary=(root,{names,options,rows,axes})=>{const[left,step,right,zero,up,log]=axes;const find=name=>root.
querySelector(`.cg-${name}`);const controls=[...root.querySelectorAll("input, select")];const y=value=>zero-
up*(log?Math.log10(value):value);const draw=(name,d)=>find(name)?.setAttribute("d",d);const show=()=>{
const chosen=controls.map(control=>+control.value);const texts=chosen.map((k,i)=>options[i][k]);const[
values,words]=rows[chosen.reduce((at,k,i)=>at*options[i].length+k,0)];const points=values.map((value,i)=>`${left+
step*i} ${y(value)}`);draw("line",`M${points.join("L")}`);draw("dots",points.map(point=>`M${point}h0`).
join(""));if(!log){const peak=Math.max(...values);draw("fill",`M${left} ${zero}L${points.join("L")}V${zero}\
z`);draw("peak",`M0 ${y(peak)}H${right}`);find("at-peak").setAttribute("y",y(peak)-5);find("at-peak").
textContent=`peak ${peak}`}const setting=names.map((name,i)=>`${name} ${texts[i]}`).join(", ");controls.
forEach((control,i)=>{const value=control.parentNode.querySelector("b");if(!value)return;value.textContent=
texts[i];control.setAttribute("aria-valuetext",texts[i])});find("setting").textContent=setting;find(
"words").textContent=words;root.querySelector("[role=img]").setAttribute("aria-label",`${setting}. ${words}`)};
for(const control of controls)control.addEventListener("input",show);find("controls").hidden=false;show()};
var transposes=(root,gradients)=>{const tables=[...root.querySelectorAll("table")];const moves={ArrowUp:[
-1,0],ArrowDown:[1,0],ArrowLeft:[0,-1],ArrowRight:[0,1]};const cell=([table,down],at,i)=>tables[table].
rows[down?i:at].cells[down?at:i];for(const[table,terms,first,second,words]of gradients){const buttons=[
...tables[table].rows].map(row=>[...row.querySelectorAll("button")]);const choose=(r,c)=>{const button=buttons[r][c];
if(button.getAttribute("aria-pressed")==="true")return;root.querySelector("[aria-pressed=true]").setAttribute(
"aria-pressed","false");button.setAttribute("aria-pressed","true");for(const other of buttons.flat())
other.tabIndex=other===button?0:-1;for(const lit of root.querySelectorAll(".cg-lit"))lit.classList.remove(
"cg-lit");void root.offsetWidth;for(let i=0;i<terms;i++){for(const lit of[cell(first,r,i),cell(second,
c,i)]){lit.style.setProperty("--n",i);lit.classList.add("cg-lit")}}root.querySelector(".cg-words").innerHTML=
words[r][c]};buttons.forEach((row,r)=>row.forEach((button,c)=>{for(const type of["pointerenter","foc\
us","click"]){button.addEventListener(type,()=>choose(r,c))}button.addEventListener("keydown",event=>{
if(!(event.key in moves))return;const[down,across]=moves[event.key];buttons[r+down]?.[c+across]?.focus();
event.preventDefault()})}))}};var kinds={vary,transposes};startAll(".chaingrad-lookup:not([data-kind\
=replay])",(root,data)=>{root.addEventListener("keydown",event=>{if(event.key.startsWith("Arrow"))event.
stopPropagation()});kinds[root.dataset.kind](root,data)});})();
