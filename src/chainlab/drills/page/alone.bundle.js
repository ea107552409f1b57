"use strict";
(()=>{var make=(name,properties={},...inside)=>{const element=document.createElement(name);for(const[key,value]of Object.
entries(properties)){if(key in element)element[key]=value;else element.setAttribute(key,value)}element.
append(...inside);return element};var makeButton=(text,onclick,properties={})=>make("button",{type:"\
button",onclick,...properties},text);var makeShape=(name,attributes)=>{const shape=document.createElementNS(
"http://www.w3.org/2000/svg",name);for(const[key,value]of Object.entries(attributes))shape.setAttribute(
key,value);return shape};var actAsButton=(shape,act)=>{shape.setAttribute("role","button");shape.setAttribute(
"tabindex","0");shape.addEventListener("click",act);shape.addEventListener("keydown",event=>{if(event.
key!=="Enter"&&event.key!==" ")return;event.preventDefault();act()});shape.addEventListener("focus",
()=>{if(!shape.matches(":focus-visible"))return;shape.querySelector(".cg-box").scrollIntoView({block:"\
nearest",inline:"nearest"})})};var escaped=text=>text.replace(/[&<>]/g,sign=>({"&":"&amp;","<":"&lt;",
">":"&gt;"})[sign]);var reveal=(...elements)=>{const how={block:"nearest",behavior:"instant"};for(const element of elements)
element.scrollIntoView(how)};var dataOf=root=>JSON.parse(root.querySelector("script[type='applicatio\
n/json']").textContent);var startAll=(selector,start2)=>{for(const root of document.querySelectorAll(
`${selector}:not([data-ready])`)){root.dataset.ready="";start2(root,dataOf(root))}};var keepKeys=element=>element.
addEventListener("keydown",event=>{if(!event.ctrlKey&&!event.metaKey)event.stopPropagation()});var ICONS={play:"M4 2l10 6-10 6z",pause:"M3 2h4v12H3zM9 2h4v12H9z",back:"M12 2v12L4 8zM2 2h2v12H2z",
next:"M4 2v12l8-6zM12 2h2v12h-2z"};var icon=name=>`<svg viewBox="0 0 16 16" aria-hidden="true"><path\
 d="${ICONS[name]}"/></svg>`;var SHORTEST=20;var Transport=class{constructor(count,show,{beat=1400,first=1,
every=1}={}){this.show=show;this.normal=beat;this.number=k=>k*every+first;this.last=count-1;this.at=
-1;this.timer=0;const named=(name,title,act)=>makeButton("",act,{innerHTML:icon(name),"aria-label":title,
title});this.back=named("back","One step back",()=>this.go(this.at-1));this.next=named("next","One s\
tep forward",()=>this.go(this.at+1));this.button=named("play","Play",()=>this.toggle());this.button.
classList.add("cg-play");const range={type:"range",min:"0",max:String(this.last),value:"0"};this.slider=
make("input",{...range,"aria-label":"Step",autocomplete:"off"});this.slider.addEventListener("input",
()=>this.go(+this.slider.value));this.place=make("span");this.place.style.minWidth=`${this.said(this.
last).length}ch`;this.count=make("span",{class:"cg-count"},make("span",{},"step "),this.place);const option=x=>make(
"option",{value:x,defaultSelected:x===1},`${x}×`);this.speed=make("select",{"aria-label":"Speed"},...[
.5,1,2,4].map(option));this.bar=make("div",{class:"cg-bar cg-transport"});this.bar.append(this.back,
this.button,this.next,this.slider,this.count,this.speed)}get beat(){return this.normal/+this.speed.value}said(k){
return`${this.number(k)} of ${this.number(this.last)}`}put(k){const to=Math.max(0,Math.min(this.last,
k));if(to===this.at)return;this.at=to;const more=this.show(to);this.slider.value=String(to);this.place.
textContent=this.said(to);this.slider.setAttribute("aria-valuetext",`${this.said(to)}, ${more}`);this.
back.disabled=to===0;this.next.disabled=to===this.last}go(k){this.pause();this.put(k)}toggle(){if(this.
timer)this.pause();else this.play()}pause(){clearTimeout(this.timer);this.timer=0;this.offer("play",
"Play")}play(){if(this.at===this.last)this.put(0);this.offer("pause","Pause");this.wait()}wait(){const stride=Math.
max(1,Math.round(SHORTEST/this.beat));this.timer=setTimeout(()=>{if(!this.bar.isConnected)return;this.
put(this.at+stride);if(this.at===this.last)this.pause();else this.wait()},stride*this.beat)}offer(name,text){
this.button.innerHTML=icon(name);this.button.setAttribute("aria-label",text);this.button.title=text}listen(root){
root.addEventListener("keydown",event=>{if(event.altKey||event.ctrlKey||event.metaKey)return;const own=event.
target.closest("button, select, summary, input, pre");const moves={ArrowLeft:this.at-1,ArrowRight:this.
at+1,Home:0,End:this.last};if(event.key in moves&&!event.target.closest("select, input, .cg-entries")){
this.go(moves[event.key])}else if(event.key===" "&&(!own||own===this.slider)){this.toggle()}else{return}
event.preventDefault();event.stopPropagation()})}};var Phases=class{constructor(phases,jump){this.bar=make("div",{class:"cg-bar cg-top"});this.buttons=
phases.map((phase,i)=>makeButton(phase,()=>jump(i)));this.bar.append(...this.buttons);if(!phases.includes(
"Backward"))return;const colors='<span class="l">local gradient</span><span class="g">adjoint</span>';
this.bar.append(make("div",{class:"cg-legend",innerHTML:colors}))}show({phase}){this.buttons.forEach(
(jump,i)=>{if(i===phase)jump.setAttribute("aria-current","step");else jump.removeAttribute("aria-cur\
rent")})}};var Words=class{constructor(steps){this.place=make("div",{class:"cg-place"});this.said=make(
"p",{class:"cg-words","aria-live":"polite","aria-atomic":"true"});const all=steps.map(({words})=>make(
"p",{"aria-hidden":"true",innerHTML:words}));this.place.append(...all,this.said)}show({words}){this.
said.innerHTML=words}};var Details=class{constructor(){const title=make("summary",{},"Details: sums,\
 arrays, long names");this.fold=make("details",{},title);this.entries=make("div",{class:"cg-entries",
tabindex:"0",role:"group","aria-label":"Details of this step"});this.fold.append(this.entries)}show({
entries}){const boxes=entries.map(([title,text])=>{return make("div",{},make("div",{innerHTML:title}),
make("pre",{},text))});this.entries.replaceChildren(...boxes);if(!boxes.length)this.entries.textContent=
"The line above says all of this step."}};var Drawing=class{constructor(svg){this.svg=svg;this.width=+svg.getAttribute("width");this.height=+svg.
getAttribute("height");this.least=1;this.nodes={};this.edges={};for(const group of svg.querySelectorAll(
"[data-node]")){const slots=this.nodes[group.dataset.node]={group};for(const text of group.querySelectorAll(
"[data-slot]"))slots[text.dataset.slot]=text}for(const group of svg.querySelectorAll("[data-from]")){
(this.edges[`${group.dataset.from} ${group.dataset.to}`]??=[]).push(group)}}put(node,slot,text){const slots=this.
nodes[node];if(slot==="state")slots.group.dataset.state=text;else if(slots[slot])slots[slot].textContent=
text}edge(parent,child,which){return this.edges[`${parent} ${child}`][which]}carry(edge,above,below){
const texts=this.edge(...edge).querySelectorAll("text");[above,below].forEach((text,i)=>texts[i]&&(texts[i].
textContent=text))}};var fitting=(drawings,width,height=Infinity)=>{const scale=drawing=>Math.min(1,
width/drawing.width,height/drawing.height)/(drawing.least??1);const best=[...drawings].sort((a,b)=>scale(
b)-scale(a))[0];return drawings.find(drawing=>scale(drawing)>=1)??best};var calm=()=>matchMedia("(prefers-reduced-motion: reduce)").matches;var ease=part=>part<.5?2*part*part:
1-2*(1-part)**2;var Message=class{constructor(){this.dot=makeShape("circle",{class:"cg-dot",r:"6"});
this.end=()=>{}}send(edge,duration,[before,sum],write){this.settle();if(calm())return;const path=edge.
querySelector("path");const length=path.getTotalLength();const began=performance.now();const hold=sum?
duration*.9:0;let frame=0;this.end=()=>{cancelAnimationFrame(frame);this.dot.remove();write()};const move=now=>{
const time=Math.max(0,now-began);if(time>=duration+hold)return this.settle();if(time<duration){const{
x,y}=path.getPointAtLength(length*(1-ease(time/duration)));this.dot.setAttribute("cx",x);this.dot.setAttribute(
"cy",y)}else{this.dot.remove();write(sum)}frame=requestAnimationFrame(move)};edge.parentNode.append(
this.dot);if(before!==void 0)write(before);move(began)}settle(){const{end}=this;this.end=()=>{};end()}};var Stage=class{constructor(svgs,label){this.place=make("div",{class:"cg-scroll",tabindex:"0",role:"\
group","aria-label":"Graph. Left and right arrow: one step. Space: play or pause."});this.drawings=svgs.
map(svg=>this.read(svg.cloneNode(true),label));this.shown=this.drawings[0];this.place.append(this.shown.
svg);this.message=new Message;this.room=""}read(svg,label){const drawing=new Drawing(svg);drawing.least=
parseFloat(svg.style.minWidth)/drawing.width;svg.setAttribute("aria-label",label);svg.style.cssText=
"";return drawing}put(changes){this.message.settle();for(const drawing of this.drawings){for(const[node,
slot,text]of changes)drawing.put(node,slot,text)}}mark({nodes,edge,changes},beat){const{shown,message}=this;
message.settle();for(const drawing of this.drawings){for(const group2 of drawing.svg.querySelectorAll(
".cg-on"))group2.classList.remove("cg-on");if(this.marked)drawing.carry(this.marked,"","")}this.marked=
void 0;for(const node of nodes)shown.nodes[node].group.classList.add("cg-on");if(!edge)return;const[
parent,child,which,above,local,sum]=edge;const ends=[parent,child,which];const group=shown.edge(...ends);
group.classList.add("cg-on");if(above)shown.carry(ends,above,`× ${local}`);this.marked=ends;const[,
,after]=changes.find(([node,slot])=>node===parent&&slot==="grad")??[];const write=(text=after)=>shown.
put(parent,"grad",text);message.send(group,Math.min(700,beat*.5),sum??[],after?write:()=>{})}reveal({
nodes}){const{place,shown}=this;const view=place.getBoundingClientRect();const boxes=nodes.map(node=>shown.
nodes[node].group.getBoundingClientRect());const off=(low,high,size)=>{const from=Math.min(...boxes.
map(box=>box[low]))-view[low];const room=view[size]-(Math.max(...boxes.map(box=>box[high]))-view[low]-
from);return from-Math.max(12,room/2)};place.scrollBy({left:off("left","right","width"),top:off("top",
"bottom","height"),behavior:calm()?"auto":"smooth"})}fit(most){const style=getComputedStyle(this.place);
const sum=(...names)=>names.reduce((total2,name)=>total2+parseFloat(style[name]),0);const padding=sum(
"paddingTop","paddingBottom");const width=this.place.clientWidth-sum("paddingLeft","paddingRight");const height=most-
padding-12;if(!this.place.clientWidth||this.room===`${width} ${height}`)return false;this.room=`${width}\
 ${height}`;this.shown=fitting(this.drawings,width,height);const{svg,width:wide,height:high,least}=this.
shown;if(!svg.isConnected)this.place.replaceChildren(svg);const room=Math.min(width/wide,height/high);
const size=room<1?Math.max(least,room):Math.min(1.5,Math.max(1,.92*room));svg.style.width=`${wide*size}\
px`;svg.style.height=`${high*size}px`;this.place.style.maxHeight=`${Math.max(height,240)+padding}px`;
return true}};var Player=class{constructor(root){const{label,phases,start:start2,steps}=dataOf(root);this.root=root;
this.steps=steps.map(([phase,words,nodes,edge,changes,entries])=>{return{phase,title:phases[phase],words,
nodes,edge,changes,entries}});this.at=-1;this.build(phases,label);this.stage.put(start2);this.undo=this.
before(start2)}build(phases,label){const{root,steps}=this;const frames=[...root.querySelectorAll(".c\
g-frames svg.chaingrad")];const others=root.querySelector("template").content.querySelectorAll("svg");
const jump=i=>this.go(steps.findIndex(({phase})=>phase===i));this.stage=new Stage([frames.at(-1),...others],
label);this.phases=new Phases(phases,jump);this.words=new Words(steps);this.bar=new Transport(steps.
length,k=>this.show(k));this.details=new Details;const live=make("div",{class:"cg-live"});if(phases.
length>1)live.append(this.phases.bar);live.append(this.stage.place,this.bar.bar,this.words.place);if(steps.
some(({entries})=>entries.length))live.append(this.details.fold);root.querySelector("script").before(
live)}before(start2){const now=Object.fromEntries(start2.map(([node,slot,text])=>[node+slot,text]));
const note=([node,slot,text])=>{const known=now[node+slot];now[node+slot]=text;return[node,slot,known]};
return this.steps.map(({changes})=>changes.map(note))}begin(){this.root.dataset.ready="";this.fit();
this.bar.put(0);new ResizeObserver(()=>this.fit()).observe(this.root);window.addEventListener("resiz\
e",()=>this.fit());this.bar.listen(this.root)}fit(){const page=document.scrollingElement||document.documentElement;
const framed=window!==window.top;const view=framed?screen.availHeight*.8:page.clientHeight;const above=parseFloat(
getComputedStyle(page).scrollPaddingTop)||0;const rest=[this.phases.bar,this.words.place,this.bar.bar,
this.details.fold.firstChild];const room=rest.reduce((left,part)=>left-part.offsetHeight,view-above);
if(this.stage.fit(room)&&this.at>=0)this.stage.mark(this.steps[this.at],this.bar.beat)}show(to){while(this.
at<to)this.stage.put(this.steps[++this.at].changes);while(this.at>to)this.stage.put(this.undo[this.at--]);
const step=this.steps[to];this.stage.mark(step,this.bar.beat);this.stage.reveal(step);for(const part of[
this.words,this.phases,this.details])part.show(step);return step.title}go(k){this.bar.go(k)}};var GAP=2;var ROUNDS=50;var overlap=(a,b,at,size)=>Math.min(a[at]+a[size],b[at]+b[size])-Math.max(a[at],
b[at])+GAP;var push=(a,b)=>{const[across,down]=[overlap(a,b,"x","width"),overlap(a,b,"y","height")];
if(across<=0||down<=0)return false;const[at,size,by]=down<=across?["y","height",down]:["x","width",across];
const first=a[at]+a[size]/2<=b[at]+b[size]/2?a:b;const second=first===a?b:a;first[at]-=by/2;second[at]+=
by/2;return true};var apart=given=>{const found=given.map(one=>({...one}));for(let round=0;round<ROUNDS;round++){
let moved=false;found.forEach((a,i)=>{for(const b of found.slice(i+1))moved=push(a,b)||moved});if(!moved)
break}return found};var STAGES=["where","kind","number"];var stageOf=tries=>STAGES[Math.min(tries,STAGES.length)-1];var sentence=text=>{
const begun=text.replace(/^(a |[a-z]{2})/,first=>first[0].toUpperCase()+first.slice(1));return/[.?!]$/.
test(begun)||!begun?begun:`${begun}.`};var sentences=texts=>texts.map(sentence).join(" Or: ");var MANY=3;
var rowsOf=(mistakes,names)=>{const rows=Object.entries(mistakes).filter(([name])=>names.includes(name));
return rows.length>MANY?[]:rows.map(([,row])=>row)};var start=hint=>/^(<[^>]*>|\S)+ = /.test(hint)?`\
Start from ${hint}.`:sentence(hint);var UNKNOWN="No single mistake that we know explains this answer\
, so take it step by step.";var kinds=(rows,hint)=>{if(!rows.length)return`${UNKNOWN} ${start(hint)}`;
if(rows.length===1)return rows[0].slice(0,2).join(" ");const each=rows.map(([did])=>did).join(" Or: ");
return`${each} ${rows.length>2?"All of these":"Both"} give this answer. ${start(hint)}`};var SAYS={where({
label,where="isn’t right yet",error,look}){return`<b>${label}</b> ${where}. ${sentence(error||look)}`},
kind({label,error,wrong,hint},mistakes){const said=kinds(rowsOf(mistakes,wrong),hint);return`<b>${label}\
</b>: ${error?`${sentence(error)} `:""}${said}`},number({label,right,given,words}){const is=right===
void 0?"":`<b>${label} is ${right}.</b> You wrote ${given}. `;return is+start(words)}};var wordsFor=(found,tries,mistakes)=>SAYS[stageOf(
tries)](found,mistakes);var rename=(picture,names)=>{const called={};for(const[node,name]of Object.entries(names)){const title=picture.
querySelector(`[data-node=${node}] .cg-name`);called[title.textContent]=name;title.textContent=name}
for(const note of picture.querySelectorAll(".cg-note")){note.textContent=note.textContent.replace(/\b[a-z]\b/g,
letter=>called[letter]??letter)}};var drawn=({names},pictures)=>{const parsed=new DOMParser().parseFromString(
pictures.join(""),"text/html");const svgs=[...parsed.querySelectorAll("svg")];for(const svg of svgs)
rename(svg,names);return svgs};var Sheet=class{constructor(problem,pictures,done){this.problem=problem;
this.done=done;this.drawings=drawn(problem,pictures).map(svg=>{svg.style.cssText="";svg.setAttribute(
"role","group");return new Drawing(svg)});for(const change of problem.entry.written){for(const drawing of this.
drawings)drawing.put(...change)}this.canvas=make("div",{class:"cg-canvas"});this.element=make("div",
{class:"cg-scroll",role:"group","aria-label":"Graph"});this.element.append(this.canvas);new ResizeObserver(
()=>this.fit()).observe(this.element)}start(){return this.problem.entry.written.filter(([,slot])=>slot.
startsWith("data"))}groups(node){return this.drawings.map(({nodes})=>nodes[node].group)}over(){return[]}fit(){
const room=(this.element.clientWidth-8)/(+getComputedStyle(this.canvas).zoom||1);if(room<=0)return;const shown=fitting(
this.drawings,room);if(shown===this.shown)return;this.shown=shown;const[left,top]=shown.svg.firstElementChild.
getAttribute("transform").match(/translate\((\S+)[ ,](\S+)\)/).slice(1).map(Number);const held=document.
activeElement;const over=this.over();this.canvas.style.width=`${shown.width}px`;this.canvas.replaceChildren(
shown.svg,...over.map(([element])=>element));for(const[{style},x,y,width]of over){Object.assign(style,
{left:`${left+x}px`,top:`${top+y}px`,width:`${width}px`})}if(this.canvas.contains(held))held.focus()}point(node,edge){
for(const drawing of this.drawings){drawing.nodes[node]?.group.classList.add("cg-on");if(edge)drawing.
edge(...edge).classList.add("cg-on")}}clear(){for(const{svg}of this.drawings){for(const on of svg.querySelectorAll(
".cg-on"))on.classList.remove("cg-on")}}};var HIGH=26;var OPERAND=["first","second"];var Arrows=class extends Sheet{constructor(...given){super(
...given);this.buttons=this.edges.map((edge,i)=>{return makeButton(edge.number,()=>this.choose(i),{"\
aria-label":`${edge.number} ${edge.says}${this.operand(edge)}`,"aria-pressed":"false"})})}get edges(){
return this.problem.entry.edges}operand({ends:[parent,child,which]}){const twins=this.edges.filter(({
ends})=>ends[0]===parent&&ends[1]===child);return twins.length>1?`, its ${OPERAND[which]} operand`:""}over(){
const pills=this.edges.map(({ends},i)=>{const texts=[...this.shown.edge(...ends).querySelectorAll("t\
ext")];const width=Math.max(28,12+9*this.buttons[i].textContent.length);const[x,y]=["x","y"].map(name=>texts.
reduce((sum,text)=>sum+ +text.getAttribute(name),0)/texts.length);return{x:x-width/2,y:y-4-HIGH/2,width,
height:HIGH}});return apart(pills).map(({x,y,width},i)=>[this.buttons[i],x,y,width])}choose(i){this.
chosen=i;this.clear();this.point("",this.edges[i].ends);this.buttons.forEach((one,k)=>one.setAttribute(
"aria-pressed",String(k===i)))}fillOne(){this.choose(this.problem.entry.fault)}focus(){this.buttons[this.
chosen??0].focus()}check(){const{chosen}=this;if(chosen===void 0)return{words:"Choose a message firs\
t."};const{fault,says}=this.problem.entry;const[here,wrong]=[this.edges[chosen],this.edges[fault]];const found=`${wrong.
product} = ${wrong.right}, and not ${wrong.number}.`;if(chosen===fault)return{right:true,words:`${found}\
 ${sentence(says)}`};const zero=here.number==="0";return{place:"all",edge:wrong.ends,label:`The ${here.
number} ${here.says}`,wrong:[here.alike||"right"],where:"was computed rightly",look:zero?"A 0 says t\
hat nothing changes, and that alone is no error":"Look for another",hint:"",words:`The wrong message\
 is ${wrong.says}: ${found}`}}};var Answers=class extends Sheet{below(label,...parts){const graph=this.element;this.element=make("di\
v",{role:"group","aria-label":label});this.element.append(graph,...parts)}fillOne(){const i=this.read().
findIndex(answer=>!answer);if(i<0)return;this.fill(i);this.mark(i,"right")}get places(){const{lines,
typed,boxes}=this.problem.entry;return lines??typed??boxes}check(){const answers=this.read();if(!answers.
some(Boolean))return{at:0,words:"Nothing is filled in yet."};const verdicts=answers.map((answer,i)=>answer&&
this.judge(answer,i));verdicts.forEach((verdict,i)=>verdict?.right&&this.mark(i,"right"));const wrong=verdicts.
findIndex(verdict=>verdict&&!verdict.right);if(wrong>=0){this.mark(wrong,"wrong");const{label,node,slot,
part}=this.places[wrong];const place={at:wrong,label,node,slot,part};return{...place,...this.told(wrong,
answers[wrong],verdicts[wrong])}}const at=verdicts.findIndex(verdict=>!verdict);return at<0?{right:true}:
{at,words:this.left(verdicts)}}left(verdicts){const next=this.places.find((_,i)=>!verdicts[i]);if(!next.
part){const right=verdicts.filter(Boolean).length;return`${right} of ${verdicts.length} ${right>1?"a\
re":"is"} right so far. Fill in the others.`}const parts=[...new Set(this.places.map(({part})=>part))];
const isDone=part=>this.places.every((place,i)=>place.part!==part||verdicts[i]);const done=parts.filter(
isDone).map(part=>`✓ ${part}`);return`${[...done,`Next: <b>${next.part}</b>`].join(". ")}.`}};var Fields=class extends Answers{constructor(problem,pictures,done){super(problem,pictures,done);this.
fields=[]}field(i,label,more={}){const field=make("input",{type:"text",autocomplete:"off",autocapitalize:"\
off",spellcheck:false,enterkeyhint:"go","aria-label":label,...more});field.setAttribute("autocorrect",
"off");field.addEventListener("input",()=>this.mark(i,""));field.addEventListener("keydown",event=>{
if(event.key!=="Enter")return;event.preventDefault();this.done()});return field}mark(i,state){const field=this.
fields[i];for(const one of["right","wrong"])field.classList.toggle(`cg-${one}`,state===one);if(state===
"wrong")field.setAttribute("aria-invalid","true");else field.removeAttribute("aria-invalid");this.clear()}focus(i=0){
this.fields[i].focus()}get draft(){return this.fields.map(({value})=>value)}set draft(texts){this.fields.
forEach((field,i)=>field.value=texts[i]??"")}};var EXACT=60;var CLOSE=1e-9;var DIGITS=3;var same=(x,y)=>Math.abs(x-y)<CLOSE;var whole=x=>Math.abs(x-
Math.round(x))<CLOSE;var near=(x,y)=>{if(y===null)return false;if(same(x,y))return true;if(whole(1e3*
y)||x*y<=0)return false;const[typed,right]=[Math.abs(x),Math.abs(y)];const unit=10**(Math.floor(Math.
log10(right))+1-DIGITS);const short=right-typed;return Math.abs(short)<=unit/2||short>0&&short<unit};
var exact=x=>{const parts=Math.round(EXACT*x);let[text,above,below]=["",Math.abs(parts),EXACT];while(below)
[above,below]=[below,above%below];const[top,part]=[parts/above,EXACT/above];if(!whole(EXACT*x))text=
String(+x.toPrecision(4));else text=20%part?`${top}/${part}`:String(top/part);return text.replace("-",
"−")};var judge=({right,mistakes},numbers)=>{const given=fits=>mistakes.filter(([,gives])=>gives!==null&&numbers.
some(x=>fits(x,gives)));if(numbers.some(x=>same(x,right)))return{right:true,mistakes:[]};const made=given(
same);if(!made.length&&numbers.some(x=>near(x,right)))return{right:true,mistakes:[]};return{right:false,
mistakes:made.length?made:given(near)}};var mistake=(wrong,chosen)=>wrong.find(([,made])=>made.join()===
chosen.join())?.[0];var judgeKept=({says,right,also,wrong},chosen)=>{const faults=kept2=>Object.keys(
says).filter(one=>chosen.includes(one)!==kept2.includes(one));const[ours,theirs]=[faults(right),faults(
also)];const[[node],kept]=theirs.length<ours.length?[theirs,also]:[ours,right];if(!node)return void 0;
return{node,isRead:kept.includes(node),name:mistake(wrong,[...chosen].sort())}};var judgeOrder=({children,
wrong},order)=>{for(const[i,node]of order.entries()){const child=children[node].find(one=>order.indexOf(
one)>i);if(child)return{node,child,name:mistake(wrong,order)}}return void 0};var joined=ends=>ends?.
slice(0,3).join();var stepAt=(steps,{node,slot,edge})=>{const along=steps.findLastIndex(([,,,drawn2])=>edge&&
joined(drawn2)===joined(edge));if(along>=0)return along;const writes=([at,into])=>at===node&&into===
slot;const written=steps.findLastIndex(([,,,,changes])=>slot&&changes.some(writes));if(written>=0)return written;
return Math.max(0,steps.findIndex(([,,nodes])=>nodes.includes(node)))};var POWERS="⁰¹²³⁴⁵⁶⁷⁸⁹";var SIGNS={"−":"-","–":"-","×":"*","·":"*","⋅":"*",
"÷":"/","⁄":"/"};var TOKEN=/(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|\*\*|[-+*/^()]/giy;var plain=text=>text.
split("=").at(-1).replace(/⁻?[⁰¹²³⁴-⁹]+/g,all=>`^${all.replace(/./g,x=>x==="⁻"?"-":POWERS.
indexOf(x))}`).replace(/(\d)\s*([¼-¾⅐-⅞])/g,"$1 $2").normalize("NFKC").replace(/[−–×·⋅÷⁄]/g,
sign=>SIGNS[sign]).trim();var mixed=text=>text.replace(/(?<![\d.,])(\d+) ([1-9]\d*)\s*\/\s*(\d+)(?![\d.,])/g,
(all,whole2,above,below)=>+above<+below?`(${whole2}+${above}/${below})`:all);var tokens=text=>{TOKEN.
lastIndex=0;const found=[];while(TOKEN.lastIndex<text.length){const[one]=TOKEN.exec(text)??[];if(!one)
return[];found.push(one)}return found};var computed=text=>{const left=tokens(text);const next=(...signs)=>signs.
includes(left[0])?left.shift():void 0;const atom=()=>{if(!next("("))return/\d/.test(left[0])?Number(
left.shift()):NaN;const inside=sum();return next(")")?inside:NaN};const power=()=>{const base=atom();
return next("^","**")?base**signed2():base};const signed2=()=>{const sign=next("-","+");if(!sign)return power();
return sign==="-"?-signed2():signed2()};const product2=()=>{let found2=signed2();for(let sign;sign=next(
"*","/");){const by=signed2();found2=sign==="*"?found2*by:found2/by}return found2};const sum=()=>{let found2=product2();
for(let sign;sign=next("+","-");)found2+=sign==="-"?-product2():product2();return found2};const found=sum();
return left.length?NaN:found};var LONGEST=100;var numbersIn=text=>{if(text.length>LONGEST)return[];const written=mixed(
plain(text)).replace(/\s+/g,"");const ways=[written.replace(/(?<![\d.,])([1-9]\d{0,2})((?:,\d{3})+)(?!\d)/g,
all=>all.replaceAll(",",""))];if(!written.includes("."))ways.push(written.replace(/(\d*),(\d+)(?![\d,])/g,
"$1.$2"));return[...new Set(ways.map(computed).filter(Number.isFinite))]};var Boxes=class extends Fields{constructor(problem,pictures,done){super(problem,pictures,done);this.
fields=this.boxes.map(({label,says},i)=>this.field(i,says,{placeholder:label.replace(/<[^>]*>/g,"")}))}get boxes(){
return this.problem.entry.boxes}over(){return this.boxes.map(({node,slot,column:[place,columns]=[0,1]},i)=>{
const{group,[slot]:text}=this.shown.nodes[node];const frame=group.querySelector(".cg-box");const[x,whole2]=[
"x","width"].map(name=>+frame.getAttribute(name));const width=(whole2-4)/columns;const left=x+4+place*
width;return[this.fields[i],left,+text.getAttribute("y")-11,width-4]})}read(){return this.fields.map(
({value})=>value.trim()?numbersIn(value):void 0)}fill(i){this.fields[i].value=exact(this.boxes[i].right)}judge(numbers,i){
return judge(this.boxes[i],numbers)}told(i,numbers,{mistakes}){const{node,label,hint,right}=this.boxes[i];
this.point(node);if(!numbers.length){return{words:`<b>${label}</b> is no number. Write −3, 1/3, 0.5 \
or 0,5.`}}for(const[,,,along]of mistakes)this.point(node,along);const edge=mistakes.find(([,,,along])=>along)?.[3];
return{edge,wrong:mistakes.map(([name])=>name),look:edge?"Look at the marked edge again":"Look at th\
e marked node again",hint,right:exact(right),given:escaped(this.fields[i].value.trim()),words:sentences(
mistakes.map(([,,says])=>says))||sentence(hint)}}};var Choice=class extends Sheet{constructor(problem,pictures,done){super(problem,pictures,done);this.
chosen=[];for(const node of Object.keys(this.problem.entry.says)){for(const box of this.groups(node))
actAsButton(box,()=>this.choose(node))}this.show()}choose(node){const{chosen}=this;this.chosen=chosen.
includes(node)?chosen.filter(one=>one!==node):[...chosen,node];this.clear();this.show()}mark(place){
return[`#${place}`,`number ${place}`]}show(){for(const[node,says]of Object.entries(this.problem.entry.
says)){const place=this.chosen.indexOf(node)+1;const[mark,spoken2]=place?this.mark(place):["","not c\
hosen"];for(const box of this.groups(node)){box.setAttribute("aria-label",`${says}: ${spoken2}`)}for(const drawing of this.
drawings)drawing.put(node,"number",mark)}}get draft(){return this.chosen}set draft(chosen){this.chosen=
chosen;this.show()}get wanted(){const{order,right}=this.problem.entry;return order??right}fillOne(){
const next=this.wanted.find(node=>!this.chosen.includes(node));if(next)this.choose(next)}told(node,words,name,usual){
this.point(node);const[label]=this.problem.entry.says[node].split(",");return{at:node,node,label,wrong:[
name??usual],words}}focus(node=Object.keys(this.problem.entry.says)[0]){this.shown.nodes[node].group.
focus()}};var Keep=class extends Choice{mark(){return["✓","kept"]}check(){const{chosen}=this;const{entry}=this.
problem;if(!chosen.length)return{words:"Choose a value first."};const verdict=judgeKept(entry,chosen);
if(!verdict)return{right:true};const{node,isRead}=verdict;const[name]=entry.says[node].split(",");const read=`\
<b>${name}</b> is ${isRead?"":"not "}read: ${entry.why[node]}.`;const look="Does a formula of the ba\
ckward pass name it?";return{...this.told(node,read,verdict.name,isRead?"no bytes":"unread"),look}}};var Sequence=class extends Choice{check(){const{chosen}=this;const{entry,names}=this.problem;if(chosen.
length<entry.order.length){const left=entry.order.length-chosen.length;if(!chosen.length)return{words:"\
Nothing is chosen yet."};return{words:`${left} of ${entry.order.length} are still to be chosen.`}}const verdict=judgeOrder(
entry,chosen);if(!verdict)return{right:true};const{node,child}=verdict;this.point(child);const early=`\
<b>${names[node]}</b> comes too early: ${names[child]} uses it, and comes later in your order.`;const look="\
Look at where it stands in your order";return{...this.told(node,early,verdict.name,"early"),look}}};var turned=a=>a[0].map((_,j)=>a.map(row=>row[j]));var sized=a=>`(${a.length>1?[a.length,a[0].length].
join(", "):`${a[0].length},`})`;var total=numbers=>numbers.reduce((x,y)=>x+y,0);var scaled=(a,by)=>a.
map(row=>row.map(x=>x*by));var REDUCED={"Σ rows":a=>[turned(a).map(total)],"Σ columns":a=>[a.map(total)],
"mean of rows":a=>scaled([turned(a).map(total)],1/a.length)};var SCALES={2:2,"1/2":.5};var Misfit=class extends Error{};
var product=(a,b,says)=>{if(a.value[0].length!==b.value.length){const[left,right]=[a,b].map(({name,value})=>`${name}\
 ${sized(value)}`);const meets=`${a.value[0].length} columns meet ${b.value.length} rows`;throw new Misfit(
`there is no product of ${left} and ${right}: ${meets}`)}const columns=turned(b.value);const entry=(row,column)=>total(
row.map((x,k)=>x*column[k]));return{name:says,value:a.value.map(row=>columns.map(column=>entry(row,column)))}};
var entrywise=(a,b,f,sign)=>{const rows=Math.max(a.length,b.length);const fits=a[0].length===b[0].length&&
[a,b].every(x=>[1,rows].includes(x.length));if(!fits)throw new Misfit(`${sized(a)} ${sign} ${sized(b)}\
 do not fit, entry by entry`);const row=(x,i)=>x[x.length>1?i:0];const made=(_,i)=>row(a,i).map((x,j)=>f(
x,row(b,i)[j]));return Array.from({length:rows},made)};var termOf=(tiles,known)=>{let[scale,reduced,
found,chain]=[1,void 0,void 0,void 0];const close=()=>{if(!chain)throw new Misfit("a factor is missi\
ng");found=found?entrywise(found,chain.value,(x,y)=>x*y,"⊙"):chain.value;chain=void 0};for(const tile of tiles){
if(SCALES[tile])scale*=SCALES[tile];else if(tile==="⊙")close();else if(REDUCED[tile]){if(reduced||
found||chain)throw new Misfit(`“${tile}” stands once, before all factors`);reduced=REDUCED[tile]}else{
const matrix=known[tile]??turned(known[tile.slice(0,-1)]);const factor={name:tile,value:matrix};chain=
chain?product(chain,factor,`${chain.name} ${tile}`):factor}}close();return scaled(reduced?reduced(found):
found,scale)};var isSign=tile=>/^[+−]$/.test(tile??"");var termsOf=(tiles,takesAll)=>{const terms=[
[]];for(const tile of tiles){const term=terms.at(-1);const begun=term.some(one=>!isSign(one)&&!REDUCED[one]&&
!SCALES[one]);if(isSign(tile)&&begun&&!(takesAll&&term.some(one=>REDUCED[one])))terms.push([tile]);else
term.push(tile)}return terms};var sumOf=matrices=>matrices.reduce((a,b)=>entrywise(a,b,(x,y)=>x+y,"+"));
var signed=(term,known,takesAll)=>{const at=term.findIndex(one=>REDUCED[one]);if(takesAll&&at>=0){const inner=sumOf(
termsOf(term.slice(at+1)).map(one=>signed(one,known)));const before=term.slice(0,at);if(before.some(
one=>!isSign(one)&&!SCALES[one])){throw new Misfit(`“${term[at]}” stands once, before all factors`)}
const by=before.reduce((x,one)=>x*(SCALES[one]??(one==="−"?-1:1)),1);return scaled(REDUCED[term[at]](
inner),by)}const minus=term.filter(one=>one==="−").length;return scaled(termOf(term.filter(one=>!isSign(
one)),known),(-1)**minus)};var WAYS=[false,true];var computed2=(tiles,known,takesAll=false)=>sumOf(termsOf(
tiles,takesAll).map(term=>signed(term,known,takesAll)));var attempted=(tiles,known,takesAll)=>{try{return{
value:computed2(tiles,known,takesAll)}}catch(error){if(!(error instanceof Misfit))throw error;return{
misfit:error.message}}};var alike=(a,b)=>sized(a)===sized(b)&&a.every((row,i)=>row.every((x,j)=>same(
x,b[i][j])));var matricesOf=({matrices,made,lines})=>{const known={...matrices};for(const[name,tiles]of made)
known[name]=computed2(tiles,known);for(const{label,right}of lines)known[label]=computed2(right,known);
return known};var judgeTiles=({lines},known,i,tiles)=>{const{label,shape,right,mistakes,hint}=lines[i];
const asked=lines.slice(i).map(later=>later.label);const late=asked.find(name=>tiles.some(tile=>[name,
`${name}ᵀ`].includes(tile)));if(late){const misfit2=`${late} is itself still to be found`;return{right:false,
mistakes:[],misfit:misfit2,words:misfit2}}const wanted=computed2(right,known);const ways=WAYS.map(way=>attempted(
tiles,known,way));if(ways.some(({value:value2})=>value2&&alike(value2,wanted)))return{right:true,mistakes:[]};
const[{value,misfit}]=ways;const made=mistakes.filter(([,other])=>{const its=value&&attempted(other,
known).value;return its?alike(value,its):other.join()===tiles.join()});let words=misfit??`its shape \
is right, and its entries are not; ${hint}`;if(value&&sized(value)!==sized(wanted))words=`it is ${sized(
value)}, and ${label} is ${shape}`;const named=made.map(([,,says])=>says).join("; or ");if(named)words=
misfit?`${misfit}; ${named}`:named;return{right:false,mistakes:made,misfit,words}};var SPOKEN={"⊙":"times, entry by entry","−":"minus","1/2":"one half"};var spoken=tile=>SPOKEN[tile]??
tile.replace("̄"," bar").replace("ᵀ"," transposed").replace("Σ","sum of");var Tiles=class extends Answers{constructor(problem,pictures,done){
super(problem,pictures,done);const{entry}=this.problem;this.known=matricesOf(entry);this.formulas=entry.
lines.map(()=>[]);const text=`<b>${entry.text}</b> Given: ${entry.seed}.`;this.rows=entry.lines.map(
({label,shape},i)=>{const says=`${label} ${shape} =`;const name=makeButton(says,()=>this.choose(i),{
"aria-label":spoken(says)});const place=make("span",{class:"cg-bar","aria-live":"polite"});const element=make(
"div",{class:"cg-line"});element.append(name,place);return{element,name,place}});const tray=make("di\
v",{class:"cg-bar cg-tray",role:"group","aria-label":"Tiles"});const each=tile=>makeButton(tile,()=>this.
put(tile),{"aria-label":spoken(tile)});this.back=makeButton("⌫",()=>this.take(),{"aria-label":"Tak\
e the last tile away"});tray.append(...entry.tray.map(each),this.back);const lines=this.rows.map(({element})=>element);
this.below("Tiles and their lines",make("p",{class:"cg-asks",innerHTML:text}),...lines,tray);this.element.
addEventListener("keydown",event=>{if(event.key==="Backspace")this.take()});this.choose(0)}choose(at){
this.at=at;this.rows.forEach(({name},i)=>name.setAttribute("aria-pressed",String(i===at)))}put(tile){
this.formulas[this.at].push(tile);this.mark(this.at)}take(at=this.at,place=this.formulas[at].length-
1){this.formulas[at].splice(place,1);this.mark(at)}mark(at,state=""){const{place,element}=this.rows[at];
const tiles=this.formulas[at].map((tile,i)=>{const taken=()=>{this.choose(at);this.take(at,i);this.rows[at].
name.focus()};return makeButton(tile,taken,{"aria-label":`${spoken(tile)}: take it away`})});place.replaceChildren(
...tiles);if(state)place.append({right:"✓",wrong:"✗"}[state]);element.dataset.state=state;this.clear()}focus(at=this.
at){this.choose(at);this.rows[at].name.focus()}get draft(){return this.formulas}set draft(formulas){
this.formulas=formulas;formulas.forEach((_,i)=>this.mark(i))}read(){return this.formulas.map(tiles=>tiles.
length?tiles:void 0)}fill(at){this.formulas[at]=[...this.problem.entry.lines[at].right];this.choose(
at)}judge(tiles,i){return judgeTiles(this.problem.entry,this.known,i,tiles)}told(i,tiles,{mistakes,misfit,
words}){const{node,right,hint}=this.problem.entry.lines[i];this.point(node);return{step:i,wrong:mistakes.
map(([name])=>name),error:misfit,look:"Look at this line again, and at the marked node",hint,right:right.
join(" "),given:tiles.join(" "),words:sentence(words)}}};var SLOW=5e3;var python;var ready;var coded=text=>escaped(text).replace(/`([^`]*)`/g,"<code>$1</code\
>");var Typed=class extends Fields{constructor(problem,pictures,done,root){super(problem,pictures,done);
this.root=root;const{entry}=problem;const whole2=text=>text&&` ${text.replaceAll(" "," ")}`;const names=entry.
names.map(([name,is])=>`<code>${name}</code>${whole2(is)}`);const about={class:"cg-code",tabindex:"0",
role:"group","aria-label":"Forward"};this.marks=[];const lines=entry.typed.map(({label,shape},i)=>this.
row(i,label,shape));this.line=make("p",{class:"cg-asks cg-status",role:"status"});this.below("The gr\
aph and your lines",make("pre",about,entry.forward.join("\n")),make("p",{class:"cg-asks",innerHTML:`\
Names: ${names.join(", ")}.`}),...lines,this.line)}row(i,label,size){const row=make("label",{class:"\
cg-line"});this.fields[i]=this.field(i,`${label}, of shape ${size}, in NumPy`);this.marks[i]=make("s\
pan",{class:"cg-mark","aria-hidden":"true"});const name=make("code",{},`${label} =`);row.append(name,
this.fields[i],make("span",{},size),this.marks[i]);return row}mark(i,state){this.marks[i].textContent=
{right:"✓",wrong:"✗"}[state]??"";super.mark(i,state)}read(){return this.draft.map(text=>text.trim())}fill(i){
this.fields[i].value=this.problem.entry.typed[i].right}check(){const texts=this.draft;const{name}=this.
problem;if(!this.read().some(Boolean))return{words:"Nothing is typed yet."};if(this.root)return this.
judged(name,texts);return{words:`Python runs in this notebook: ${coded(this.cell(name,texts))}`}}cell(name,texts){
const[kind,level,seed]=name.split("-");const{typed}=this.problem.entry;const lines=texts.map((text,i)=>text.
trim()&&`${typed[i].label}=${JSON.stringify(text)}`);return`\`drill("${kind}", ${level}, ${seed}).ch\
eck(${lines.filter(Boolean).join(", ")})\``}async judged(name,texts){if(this.asking)return{words:this.
asking};this.asking="Python is still at work.";this.doing("Asking Python");let verdict;try{verdict=await this.
ask({type:"typed",name,lines:texts})}catch(error2){return{words:this.whyNot(error2)}}finally{this.asking=
void 0;this.status()}if(texts.join("\n")!==this.draft.join("\n")){return{words:"The lines have chang\
ed meanwhile. Check them again."}}const{marks,at,wrong,error,words}=verdict;const first=marks.indexOf(
"wrong");marks.forEach((mark,i)=>this.mark(i,mark==="wrong"&&i>first?"":mark));if(first<0)return{right:!words,
at,words:coded(words)};const{node,label,right}=this.problem.entry.typed[at];this.point(node);return{
at,node,wrong,step:at,label:`<code>${label}</code>`,error:coded(error),look:"Look at this line again\
, and at the marked node",hint:coded(verdict.hint),right:`<code>${escaped(right)}</code>`,given:`<co\
de>${escaped(texts[at].trim())}</code>`,words:coded(words)}}async ask(question){const base=new URL(`${this.
root}_live/`,location.href);const{Python,UNREACHABLE}=await import(new URL("python.js",base).href);this.
unreachable=UNREACHABLE;python??=new Python(base);await python.started(this);if(ready!==python.worker){
await python.ask(this,{...question,lines:question.lines.map(()=>"")});ready=python.worker}const slow=setTimeout(
()=>python.fail("slow"),SLOW);return python.ask(this,question).finally(()=>clearTimeout(slow))}whyNot({
message}){if(message==="slow")return`Ended: it ran for more than ${SLOW/1e3} s. The lines stay.`;if(message===
"unreachable")return this.unreachable;return`This cannot run now: ${escaped(message)}. The lines sta\
y.`}status(words=""){this.line.textContent=words}doing(what){this.status(`${what} …`)}loading(words){
this.status(words)}};var SHEETS={boxes:Boxes,messages:Arrows,order:Sequence,tiles:Tiles,keep:Keep,typed:Typed};var Task=class{constructor(problem,{
sheet,pictures,asks,mistakes,lesson=["",""],root="",outcome}){this.problem=problem;this.pictures=pictures;
this.mistakes=mistakes;this.lesson=lesson;this.root=root;this.outcome=outcome;this.tries={};this.failed=
new Set;this.lost=false;this.solved=false;this.sheet=new SHEETS[sheet](problem,pictures,()=>this.check(),
root);this.said=make("p",{class:"cg-words","aria-live":"polite"});this.bar=make("div",{class:"cg-bar"});
this.show=makeButton("Show me",()=>this.toggle());this.bar.append(makeButton("Check",()=>this.check(),
{class:"cg-play"}),this.show);this.foot=make("div",{class:"cg-foot"},this.said,this.bar);this.shown=
make("div");this.element=make("div",{class:"cg-task","data-name":problem.name});this.element.append(
make("p",{class:"cg-asks",innerHTML:asks}),this.sheet.element,this.foot,this.shown)}say(words){this.
said.innerHTML=words}check(){const found=this.sheet.check();if(found instanceof Promise)found.then(verdict=>this.
tell(verdict));else this.tell(found)}tell(found){if(!this.element.isConnected)return;const{right,wrong,
words="",at}=found;if(wrong){this.correct(found)}else if(!right){this.say(words);this.sheet.focus(at)}else{
const more=!this.solved&&this.outcome(this.result);this.solved=true;this.say(`<b>✓ Right.</b> ${words}\
 ${more||""}`)}}get result(){if(this.lost)return"mended";return this.failed.size?"part":"right"}correct(found){
const{at,place=String(at),part=""}=found;const tries=this.tries[place]=(this.tries[place]??0)+1;this.
fail(part);this.say(`✗ ${wordsFor(found,tries,this.mistakes)} ${this.links(found,tries)}`);this.sheet.
focus(at);if(stageOf(tries)==="number")this.play(found)}fail(part){if(part)this.failed.add(part);if(part&&
this.failed.size===1)return;this.lost=true;this.outcome("wrong")}links({wrong},tries){if(!this.root||
stageOf(tries)==="where")return"";const lessons=new Map(rowsOf(this.mistakes,wrong).map(([,,to,page])=>[
page,to]));if(!lessons.size)lessons.set(this.lesson[0],this.lesson[1]);const address=lesson=>`${this.
root}chapters/${lesson.replace("#",".html#")}`;return[...lessons].map(([page,to])=>`<a href="${address(
to)}">${page}</a>`).join(" · ")}toggle(){if(this.shown.firstChild)return this.shown.replaceChildren();
if(!this.solved)this.fail("");this.play()}play(place){const{entry,name}=this.problem;const phases=[...new Set(
entry.steps.map(([phase])=>phase))];const steps=entry.steps.map(([phase,words,nodes,edge,changes])=>[
phases.indexOf(phase),words,nodes,edge??0,changes,[]]);const start2=this.sheet.start();const label=`\
Step by step: ${name}`;const root=make("div",{class:"chaingrad-player",role:"group","aria-label":label});
const[wide,...others]=drawn(this.problem,this.pictures);const template=make("template");template.content.
append(...others);root.append(make("div",{class:"cg-frames"},wide),template);const data=JSON.stringify(
{label,phases,start:start2,steps});root.append(make("script",{type:"application/json"},data));this.shown.
replaceChildren(root);const player=new Player(root);player.begin();if(place)player.go(place.step??stepAt(
entry.steps,place));reveal(this.shown,this.foot)}};startAll(".chaingrad-player[data-kind=drill]",(root,data)=>{const{asks,sheet,pictures,mistakes,...problem}=data;
const task=new Task(problem,{sheet,pictures,asks,mistakes,outcome:()=>""});root.querySelector(".cg-l\
ive").replaceChildren(task.element);task.sheet.fit();keepKeys(root)});})();
