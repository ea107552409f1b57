"use strict";
(()=>{var make=(name,properties={},...inside)=>{const element=document.createElement(name);for(const[key,value]of Object.
entries(properties)){if(key in element)element[key]=value;else element.setAttribute(key,value)}element.
append(...inside);return element};var makeButton=(text,onclick,properties={})=>make("button",{type:"\
button",onclick,...properties},text);Object.assign(window,{make,makeButton});(()=>{const root=document.documentElement;const ANSWERS=".so\
lution, .predict > details, .checked > details";const answers=[...document.querySelectorAll(`main de\
tails:is(${ANSWERS})`)];let theme="";let folded=[];addEventListener("beforeprint",()=>{theme=root.dataset.
theme;root.dataset.theme="light";root.style.setProperty("--address",JSON.stringify(location.href.replace(
/#.*/,"")));folded=[...document.querySelectorAll(`details:not([open], ${ANSWERS})`)];folded.forEach(
details=>details.open=true)});addEventListener("afterprint",()=>{root.dataset.theme=theme;folded.forEach(
details=>details.open=false)});const unfold=()=>answers.forEach(details=>details.open=true);const title="\
Also for paper: what is folded is not printed";const button=makeButton("Unfold all answers",unfold,{
title});if(answers.length)document.querySelector("article")?.append(make("p",{className:"answers"},button))})();
window.onArrival=act=>{const arrive=hash=>act(document.getElementById(decodeURIComponent(hash.slice(
1))));addEventListener("hashchange",()=>arrive(location.hash));addEventListener("click",({target})=>{
const link=target.closest?.("a[href^='#']");arrive(link?.hash??"")});arrive(location.hash)};(()=>{const leadTo=place=>{
const fold=place?.querySelector(":scope > details:is(.about-checks, .hide)")??place;const folded=[];
for(let at=fold;at=at?.closest("details");at=at.parentElement)if(!at.open)folded.push(at);folded.forEach(
details=>details.open=true);if(folded.length)place.scrollIntoView()};window.onArrival(leadTo)})();(()=>{
const BOXES="main :is(table, pre, div.math, .cell_output > .output, .pst-scrollable-table-container)";
const look=box=>{const more=box.scrollWidth-box.clientWidth-box.scrollLeft;box.toggleAttribute("data\
-more",more>1)};const observer=new ResizeObserver(entries=>entries.forEach(({target})=>{const scrolls=target.
scrollWidth>target.clientWidth||target.scrollHeight>target.clientHeight;if(scrolls)target.setAttribute(
"tabindex","0");else target.removeAttribute("tabindex");look(target)}));addEventListener("load",()=>document.
querySelectorAll(BOXES).forEach(box=>{observer.observe(box);box.addEventListener("scroll",()=>look(box),
{passive:true})}))})();})();
