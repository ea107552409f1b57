"use strict";
(()=>{var dataOf=root=>JSON.parse(root.querySelector("script[type='application/json']").textContent);var startAll=(selector,start)=>{
for(const root of document.querySelectorAll(`${selector}:not([data-ready])`)){root.dataset.ready="";
start(root,dataOf(root))}};var keepKeys=element=>element.addEventListener("keydown",event=>{if(!event.
ctrlKey&&!event.metaKey)event.stopPropagation()});startAll(".chaingrad-loop",(root,{right,calls,curves,says,found})=>{const[list,again,yours]=[".cg-ca\
rds",".cg-again",".cg-yours"].map(name=>root.querySelector(name));const[sentence,error,ending]=root.
querySelectorAll(".cg-words > *");const cards=[...list.children];let order=[...right];let left=new Set;
let held=-1;const show=()=>{cards.forEach((card,i)=>{const[name,out]=[calls[order[i]],left.has(order[i])];
const[up,down,off]=card.querySelectorAll("button");card.querySelector("code").textContent=name;card.
classList.toggle("cg-out",out);card.classList.toggle("cg-held",i===held);up.disabled=i===0;down.disabled=
i===cards.length-1;up.ariaLabel=`Move up: ${name}`;down.ariaLabel=`Move down: ${name}`;off.ariaLabel=
`${out?"Put back":"Leave out"}: ${name}`;off.textContent=out?"+":"✕"});const[curve,words]=found[order.
filter(call=>!left.has(call)).join("")];yours.setAttribute("d",curves[curve]);[sentence,error,ending].
forEach((part,k)=>{part.textContent=says[words][k];part.hidden=!says[words][k]})};const move=(from,to)=>{
order.splice(to,0,...order.splice(from,1))};cards.forEach((card,i)=>{const buttons=card.querySelectorAll(
"button");[-1,1].forEach((way,k)=>{buttons[k].addEventListener("click",()=>{move(i,i+way);show();const same=cards[i+
way].querySelectorAll("button");same[same[k].disabled?1-k:k].focus()})});buttons[2].addEventListener(
"click",()=>{if(!left.delete(order[i]))left.add(order[i]);show()})});list.addEventListener("pointerd\
own",event=>{const card=event.target.closest("li");const grips=event.pointerType==="mouse"||event.target.
closest(".cg-grip");if(!card||!grips||event.target.closest("button")||event.button)return;event.preventDefault();
list.setPointerCapture(event.pointerId);held=cards.indexOf(card);show()});list.addEventListener("poi\
ntermove",event=>{if(held<0)return;const below=cards.findIndex(card=>event.clientY<card.getBoundingClientRect().
bottom);const to=below<0?cards.length-1:below;if(to===held)return;move(held,to);held=to;show()});for(const end of[
"pointerup","pointercancel"])list.addEventListener(end,()=>{held=-1;show()});again.addEventListener(
"click",()=>{order=[...right];left=new Set;show()});root.querySelectorAll(".cg-bar").forEach(bar=>bar.
hidden=false);keepKeys(root);show()});})();
