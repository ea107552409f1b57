"use strict";
(()=>{var actAsButton=(shape,act)=>{shape.setAttribute("role","button");shape.setAttribute("tabindex","0");
shape.addEventListener("click",act);shape.addEventListener("keydown",event=>{if(event.key!=="Enter"&&
event.key!==" ")return;event.preventDefault();act()});shape.addEventListener("focus",()=>{if(!shape.
matches(":focus-visible"))return;shape.querySelector(".cg-box").scrollIntoView({block:"nearest",inline:"\
nearest"})})};var dataOf=root=>JSON.parse(root.querySelector("script[type='application/json']").textContent);var startAll=(selector,start)=>{
for(const root of document.querySelectorAll(`${selector}:not([data-ready])`)){root.dataset.ready="";
start(root,dataOf(root))}};var keepKeys=element=>element.addEventListener("keydown",event=>{if(!event.
ctrlKey&&!event.metaKey)event.stopPropagation()});startAll(".chaingrad-uses",(root,data)=>{const scenes=[...root.querySelectorAll(".cg-scene")];scenes.
forEach((scene,i)=>{const boxes=scene.querySelectorAll("g[data-name]");const words=scene.querySelector(
"p");const pick=name=>{for(const part of scene.querySelectorAll("[data-from]"))part.classList.toggle(
"cg-on",part.dataset.from===name);for(const box of boxes){const picked=box.dataset.name===name;box.classList.
toggle("cg-picked",picked);box.classList.toggle("cg-lit",box.dataset.uses.split(" ").includes(name));
if("pick"in box.dataset)box.setAttribute("aria-pressed",String(picked))}words.textContent=data[i][name]};
for(const box of scene.querySelectorAll("g[data-pick]")){actAsButton(box,()=>pick(box.dataset.name));
box.setAttribute("aria-label",data[i][box.dataset.name].split(/[:,]/)[0])}pick(scene.querySelector("\
.cg-picked").dataset.name)});const bar=root.querySelector(".cg-bar");const picks=[...bar.children];picks.
forEach((button,chosen)=>{button.addEventListener("click",()=>{picks.forEach((other,i)=>other.setAttribute(
"aria-pressed",String(i===chosen)));scenes.forEach((scene,i)=>scene.classList.toggle("cg-off",i!==chosen))})});
bar.hidden=false;keepKeys(root)});})();
