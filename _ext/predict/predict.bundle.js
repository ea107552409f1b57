"use strict";
(()=>{var POWERS="⁰¹²³⁴⁵⁶⁷⁸⁹";var SIGNS={"−":"-","–":"-","×":"*","·":"*","⋅":"*",
"÷":"/","⁄":"/"};var TOKEN=/(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|\*\*|[-+*/^()]/giy;var plain=text=>text.
split("=").at(-1).replace(/⁻?[⁰¹²³⁴-⁹]+/g,all=>`^${all.replace(/./g,x=>x==="⁻"?"-":POWERS.
indexOf(x))}`).replace(/(\d)\s*([¼-¾⅐-⅞])/g,"$1 $2").normalize("NFKC").replace(/[−–×·⋅÷⁄]/g,
sign=>SIGNS[sign]).trim();var mixed=text=>text.replace(/(?<![\d.,])(\d+) ([1-9]\d*)\s*\/\s*(\d+)(?![\d.,])/g,
(all,whole,above,below)=>+above<+below?`(${whole}+${above}/${below})`:all);var tokens=text=>{TOKEN.lastIndex=
0;const found=[];while(TOKEN.lastIndex<text.length){const[one]=TOKEN.exec(text)??[];if(!one)return[];
found.push(one)}return found};var computed=text=>{const left=tokens(text);const next=(...signs)=>signs.
includes(left[0])?left.shift():void 0;const atom=()=>{if(!next("("))return/\d/.test(left[0])?Number(
left.shift()):NaN;const inside=sum();return next(")")?inside:NaN};const power=()=>{const base=atom();
return next("^","**")?base**signed():base};const signed=()=>{const sign=next("-","+");if(!sign)return power();
return sign==="-"?-signed():signed()};const product=()=>{let found2=signed();for(let sign;sign=next(
"*","/");){const by=signed();found2=sign==="*"?found2*by:found2/by}return found2};const sum=()=>{let found2=product();
for(let sign;sign=next("+","-");)found2+=sign==="-"?-product():product();return found2};const found=sum();
return left.length?NaN:found};var LONGEST=100;var numbersIn=text=>{if(text.length>LONGEST)return[];const written=mixed(
plain(text)).replace(/\s+/g,"");const ways=[written.replace(/(?<![\d.,])([1-9]\d{0,2})((?:,\d{3})+)(?!\d)/g,
all=>all.replaceAll(",",""))];if(!written.includes("."))ways.push(written.replace(/(\d*),(\d+)(?![\d,])/g,
"$1.$2"));return[...new Set(ways.map(computed).filter(Number.isFinite))]};var halfDigit=text=>{const[,places,power]=/^[^/*×·÷^()]*?[.,](\d+)(?:e([-+]?\d+))?$/i.exec(text.trim().
replace("−","-"))??[];return places?.5*10**(Number(power??0)-places.length):0};var digitsOf=text=>text.
split(/e/i)[0].replace(/\D/g,"").replace(/^0+/,"").length;var ENOUGH=3;var TRIES=2;function spoken(text){
const copy=text.cloneNode(true);for(const formula of copy.querySelectorAll(".katex"))formula.replaceWith(
formula.querySelector("annotation").textContent);return copy.textContent.trim()}(()=>{const{page}=kept;
class Question{constructor(box){this.box=box;this.name=box.dataset.name;this.right=Number(box.dataset.
right);this.within=Number(box.dataset.within);this.list=box.querySelector(":scope > .predict-choices");
this.answer=box.querySelector(":scope > details");this.computed=this.answer.querySelector(":scope > \
p > strong");this.known=[...this.answer.querySelectorAll("dt")].map(term=>({text:term.textContent.trim(),
says:term.nextElementSibling}));this.asked=box.dataset.asked;this.build();this.restore();this.look();
addEventListener("kept",()=>this.look())}look(){const{asked,right,settled}=kept.read(page).guesses?.[this.
name]??{};this.answer.hidden=asked!==this.asked||!(right||settled)}build(){this.says=make("div",{className:"\
predict-says",role:"status"});this.again=makeButton("Ask me again",()=>this.forget(),{hidden:true});
const check=make("button",{type:"submit"},"Check");this.form=make("form",{noValidate:true},this.field(),
check,this.again,this.says);this.form.ariaLabel=`Your prediction: ${this.asked}`;this.form.addEventListener(
"submit",event=>{event.preventDefault();this.guess()});this.answer.before(this.form);this.answer.hidden=
true}field(){if(!this.list){const kind={type:"text",size:10,autocomplete:"off"};this.input=make("inp\
ut",{...kind,ariaLabel:"Your prediction, a number"});return this.input}const items=[...this.list.querySelectorAll(
"li > p")].map((text,i)=>{const radio=make("input",{type:"radio",name:`predict-${this.name}`,value:i});
if(text.querySelector(".katex"))radio.ariaLabel=spoken(text);return make("label",{},radio,make("span",
{},...text.childNodes))});this.list.remove();const legend=make("legend",{className:"visually-hidden"},
"Your prediction");const set=make("fieldset",{},legend,...items);this.radios=[...set.querySelectorAll(
"input")];return set}get value(){if(!this.radios)return this.input.value.trim()||void 0;return this.
known[this.radios.findIndex(radio=>radio.checked)]?.text}set value(text){if(this.input)this.input.value=
text;else this.radios.forEach((radio,i)=>radio.checked=this.known[i].text===text)}isRight(text){const within=Math.
max(this.within,halfDigit(text));return Math.abs(numbersIn(text)[0]-this.right)<=within+1e-9*Math.abs(
this.right)}judge(value){if(this.radios){const chosen=this.known.findIndex(({text})=>text===value);return{
right:chosen===this.right,says:this.known[chosen]?.says}}const numbers=numbersIn(value);const near=(other,within)=>numbers.
some(number=>Math.abs(number-other)<=within+1e-9*Math.abs(other));const typed=halfDigit(value);const isExact=digitsOf(
value)>=ENOUGH;const rounded=near(this.right,typed);const right=near(this.right,this.within)||rounded&&
isExact;const told=this.known.find(({text})=>near(numbersIn(text)[0],Math.max(halfDigit(text),isExact?
typed:0)));const why=right?this.known.find(({text})=>this.isRight(text)):told;if(why)return{right,says:why.
says};if(right)return{right,says:""};if(rounded)return{right,says:"So far it is right: write another\
 digit."};return{right,says:numbers[0]<this.right?"It is larger.":"It is smaller."}}guess(){const{value}=this;
if(value===void 0||this.input&&!numbersIn(value).length){this.says.textContent=this.input?"Write a n\
umber, such as 6, −0.5 or 1/3.":"Choose one first.";(this.input??this.radios[0]).focus();return}const{
right}=this.judge(value);const lasts=this.keep(value,right);this.show(value);const unkept=`Not kept \
by this browser: ${kept.trouble()}.`;if(!lasts)this.says.append(" ",make("small",{},unkept))}keep(value,right){
const{asked}=this;const last=kept.read(page).guesses?.[this.name];const before=last?.asked===asked?last:
{};const{misses=0}=before;const again=before.value===value;const missed=right||again?misses:misses+1;
const settled=right||Boolean(before.right||before.settled)||missed>=TRIES;return kept.put(page,"gues\
ses",this.name,{asked,value,right,misses:missed,settled})}show(value){const{right,says}=this.judge(value);
const settled=right||kept.read(page).guesses[this.name].settled;const mark=make("b",{className:"pred\
ict-mark"},right?"✓":"✗");const hint=settled?"":says;const reason=says instanceof Element?[...says.
cloneNode(true).childNodes]:[hint];this.says.replaceChildren(mark," ",...this.compared(value,right,settled),
...reason);this.paint(value,right,settled);this.again.hidden=false}compared(value,right,settled){if(this.
radios&&right)return[];const said=this.radios?"Not this":`You said ${value}`;if(!settled)return[`${said}\
. `];const computed2=[...this.computed.cloneNode(true).childNodes];const isSame=value===this.computed.
textContent;return[isSame?"It is ":`${said}; it is `,...computed2,". "]}paint(value,right,settled){this.
box.classList.toggle("predict-right",Boolean(right));this.radios?.forEach(({parentElement:choice},i)=>{
choice.classList.toggle("predict-hit",Boolean(settled)&&i===this.right);choice.classList.toggle("pre\
dict-miss",!right&&this.known[i].text===value)})}restore(){const before=kept.read(page).guesses?.[this.
name];if(!before)return;if(before.asked!==this.asked){this.says.textContent=`The question has change\
d since you predicted ${before.value}.`;return}this.value=before.value;if(this.value!==void 0)this.show(
this.value)}forget(){kept.put(page,"guesses",this.name,void 0);this.form.reset();this.says.replaceChildren();
this.paint();this.answer.hidden=true;this.answer.open=false;this.again.hidden=true;(this.input??this.
radios[0]).focus()}}document.querySelectorAll(".predict").forEach(box=>new Question(box))})();})();
