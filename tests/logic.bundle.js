"use strict";
(()=>{var __defProp=Object.defineProperty;var __export=(target,all)=>{for(var name in all)__defProp(target,name,{get:all[name],enumerable:true})};var OPS={add:(a,b)=>a+b,subtract:(a,b)=>a-b,multiply:(a,b)=>a*b,divide:(a,b)=>a/b,power:Math.pow,negative:a=>-a,
absolute:Math.abs,maximum:(a,b)=>Math.max(a,b),minimum:(a,b)=>Math.min(a,b),less:(a,b)=>a<b,less_equal:(a,b)=>a<=
b,greater:(a,b)=>a>b,greater_equal:(a,b)=>a>=b,equal:(a,b)=>a===b,not_equal:(a,b)=>a!==b,isinf:a=>Math.
abs(a)===Infinity,isfinite:Number.isFinite,logical_and:(a,b)=>a&&b,logical_or:(a,b)=>a||b,logical_not:a=>!a,
where:(condition,a,b)=>condition?a:b,logaddexp:(a,b)=>a===b?a+Math.LN2:Math.max(a,b)+Math.log1p(Math.
exp(-Math.abs(a-b)))};for(const name of["sign","exp","log","sqrt","sin","cos","tanh","log1p","expm1"]){
OPS[name]=Math[name]}var run=({constants,code},inputs,count=code.length)=>{const values=[...inputs,...constants.
map(Number)];for(let i=0;i<count;i++){const[name,a,b,c]=code[i];values.push(OPS[name](values[a],values[b],
values[c]))}return values};var small_numbers_exports={};__export(small_numbers_exports,{exact:()=>exact,near:()=>near,same:()=>same});
var EXACT=60;var CLOSE=1e-9;var DIGITS=3;var same=(x,y)=>Math.abs(x-y)<CLOSE;var whole=x=>Math.abs(x-
Math.round(x))<CLOSE;var near=(x,y)=>{if(y===null)return false;if(same(x,y))return true;if(whole(1e3*
y)||x*y<=0)return false;const[typed,right]=[Math.abs(x),Math.abs(y)];const unit=10**(Math.floor(Math.
log10(right))+1-DIGITS);const short=right-typed;return Math.abs(short)<=unit/2||short>0&&short<unit};
var exact=x=>{const parts=Math.round(EXACT*x);let[text,above,below]=["",Math.abs(parts),EXACT];while(below)
[above,below]=[below,above%below];const[top,part]=[parts/above,EXACT/above];if(!whole(EXACT*x))text=
String(+x.toPrecision(4));else text=20%part?`${top}/${part}`:String(top/part);return text.replace("-",
"−")};var turned=a=>a[0].map((_,j)=>a.map(row=>row[j]));var sized=a=>`(${a.length>1?[a.length,a[0].length].
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
[]];for(const tile of tiles){const term=terms.at(-1);const begun2=term.some(one=>!isSign(one)&&!REDUCED[one]&&
!SCALES[one]);if(isSign(tile)&&begun2&&!(takesAll&&term.some(one=>REDUCED[one])))terms.push([tile]);else
term.push(tile)}return terms};var sumOf=matrices=>matrices.reduce((a,b)=>entrywise(a,b,(x,y)=>x+y,"+"));
var signed=(term,known,takesAll)=>{const at=term.findIndex(one=>REDUCED[one]);if(takesAll&&at>=0){const inner=sumOf(
termsOf(term.slice(at+1)).map(one=>signed(one,known)));const before=term.slice(0,at);if(before.some(
one=>!isSign(one)&&!SCALES[one])){throw new Misfit(`“${term[at]}” stands once, before all factors`)}
const by=before.reduce((x,one)=>x*(SCALES[one]??(one==="−"?-1:1)),1);return scaled(REDUCED[term[at]](
inner),by)}const minus=term.filter(one=>one==="−").length;return scaled(termOf(term.filter(one=>!isSign(
one)),known),(-1)**minus)};var WAYS=[false,true];var computed=(tiles,known,takesAll=false)=>sumOf(termsOf(
tiles,takesAll).map(term=>signed(term,known,takesAll)));var attempted=(tiles,known,takesAll)=>{try{return{
value:computed(tiles,known,takesAll)}}catch(error){if(!(error instanceof Misfit))throw error;return{
misfit:error.message}}};var alike=(a,b)=>sized(a)===sized(b)&&a.every((row,i)=>row.every((x,j)=>same(
x,b[i][j])));var matricesOf=({matrices,made,lines})=>{const known={...matrices};for(const[name,tiles]of made)
known[name]=computed(tiles,known);for(const{label,right}of lines)known[label]=computed(right,known);
return known};var judgeTiles=({lines},known,i,tiles)=>{const{label,shape,right,mistakes,hint}=lines[i];
const asked=lines.slice(i).map(later=>later.label);const late=asked.find(name=>tiles.some(tile=>[name,
`${name}ᵀ`].includes(tile)));if(late){const misfit2=`${late} is itself still to be found`;return{right:false,
mistakes:[],misfit:misfit2,words:misfit2}}const wanted=computed(right,known);const ways=WAYS.map(way=>attempted(
tiles,known,way));if(ways.some(({value:value2})=>value2&&alike(value2,wanted)))return{right:true,mistakes:[]};
const[{value,misfit}]=ways;const made=mistakes.filter(([,other])=>{const its=value&&attempted(other,
known).value;return its?alike(value,its):other.join()===tiles.join()});let words=misfit??`its shape \
is right, and its entries are not; ${hint}`;if(value&&sized(value)!==sized(wanted))words=`it is ${sized(
value)}, and ${label} is ${shape}`;const named=made.map(([,,says])=>says).join("; or ");if(named)words=
misfit?`${misfit}; ${named}`:named;return{right:false,mistakes:made,misfit,words}};var ramp_exports={};__export(ramp_exports,{rowsOf:()=>rowsOf,sentence:()=>sentence,sentences:()=>sentences,
stageOf:()=>stageOf,wordsFor:()=>wordsFor});var STAGES=["where","kind","number"];var stageOf=tries=>STAGES[Math.
min(tries,STAGES.length)-1];var sentence=text=>{const begun2=text.replace(/^(a |[a-z]{2})/,first=>first[0].
toUpperCase()+first.slice(1));return/[.?!]$/.test(begun2)||!begun2?begun2:`${begun2}.`};var sentences=texts=>texts.
map(sentence).join(" Or: ");var MANY=3;var rowsOf=(mistakes,names)=>{const rows=Object.entries(mistakes).
filter(([name])=>names.includes(name));return rows.length>MANY?[]:rows.map(([,row])=>row)};var start=hint=>/^(<[^>]*>|\S)+ = /.
test(hint)?`Start from ${hint}.`:sentence(hint);var UNKNOWN="No single mistake that we know explains\
 this answer, so take it step by step.";var kinds=(rows,hint)=>{if(!rows.length)return`${UNKNOWN} ${start(
hint)}`;if(rows.length===1)return rows[0].slice(0,2).join(" ");const each=rows.map(([did])=>did).join(
" Or: ");return`${each} ${rows.length>2?"All of these":"Both"} give this answer. ${start(hint)}`};var SAYS={
where({label,where="isn’t right yet",error,look}){return`<b>${label}</b> ${where}. ${sentence(error||
look)}`},kind({label,error,wrong,hint},mistakes){const said=kinds(rowsOf(mistakes,wrong),hint);return`\
<b>${label}</b>: ${error?`${sentence(error)} `:""}${said}`},number({label,right,given,words}){const is=right===
void 0?"":`<b>${label} is ${right}.</b> You wrote ${given}. `;return is+start(words)}};var wordsFor=(found,tries,mistakes)=>SAYS[stageOf(
tries)](found,mistakes);var start_exports={};__export(start_exports,{QUESTIONS:()=>QUESTIONS,firstStop:()=>firstStop,nextStop:()=>nextStop});
var QUESTIONS=6;var between=(answers,count)=>{let[low,high]=[0,count];for(const{stop,right}of answers){
if(!right)[low,high]=[Math.min(low,stop),Math.min(high,stop)];else[low,high]=[Math.max(low,stop+1),stop>=
high?count:high]}return[low,high]};var nextStop=(answers,count)=>{const[low,high]=between(answers,count);
const failed=answers.filter(({stop,right})=>stop===high&&!right).length;if(answers.length>=QUESTIONS||
low>=count||failed>1)return void 0;return low+Math.floor((high-low)/3)};var firstStop=(answers,count)=>Math.
min(between(answers,count)[1],count-1);var problem_exports={};__export(problem_exports,{judge:()=>judge,judgeKept:()=>judgeKept,judgeOrder:()=>judgeOrder,
pick:()=>pick,stepAt:()=>stepAt});var pick=(graphs,number)=>{const{pictures,problems}=graphs.find(graph=>number in graph.problems);return{
pictures,...problems[number]}};var judge=({right,mistakes},numbers)=>{const given=fits=>mistakes.filter(
([,gives])=>gives!==null&&numbers.some(x=>fits(x,gives)));if(numbers.some(x=>same(x,right)))return{right:true,
mistakes:[]};const made=given(same);if(!made.length&&numbers.some(x=>near(x,right)))return{right:true,
mistakes:[]};return{right:false,mistakes:made.length?made:given(near)}};var mistake=(wrong,chosen)=>wrong.
find(([,made])=>made.join()===chosen.join())?.[0];var judgeKept=({says,right,also,wrong},chosen)=>{const faults=kept2=>Object.
keys(says).filter(one=>chosen.includes(one)!==kept2.includes(one));const[ours,theirs]=[faults(right),
faults(also)];const[[node],kept]=theirs.length<ours.length?[theirs,also]:[ours,right];if(!node)return void 0;
return{node,isRead:kept.includes(node),name:mistake(wrong,[...chosen].sort())}};var judgeOrder=({children,
wrong},order)=>{for(const[i,node]of order.entries()){const child=children[node].find(one=>order.indexOf(
one)>i);if(child)return{node,child,name:mistake(wrong,order)}}return void 0};var joined=ends=>ends?.
slice(0,3).join();var stepAt=(steps,{node,slot,edge})=>{const along=steps.findLastIndex(([,,,drawn])=>edge&&
joined(drawn)===joined(edge));if(along>=0)return along;const writes=([at,into])=>at===node&&into===slot;
const written=steps.findLastIndex(([,,,,changes])=>slot&&changes.some(writes));if(written>=0)return written;
return Math.max(0,steps.findIndex(([,,nodes])=>nodes.includes(node)))};var progress_exports={};__export(progress_exports,{IN_A_ROW:()=>IN_A_ROW,after:()=>after,begun:()=>begun,
due:()=>due,others:()=>others,stateOf:()=>stateOf});var IN_A_ROW=5;var AFTER=[2,6];var SERIES=200;var FRESH={
level:1,row:0,passed:0,done:0,seeds:{},met:{},again:[]};var begun=kept=>({...FRESH,...kept});var others=(seed,graphs)=>{
const rounds=Math.max(1,Math.floor(SERIES/graphs));const far=Math.floor(rounds/2);return AFTER.map((_,k)=>(seed-
1+graphs*(far+k))%(graphs*rounds)+1)};var after=(kept,{level,seed,graphs},outcome,levels)=>{const next=begun(
kept);const met=next.met[level]??[];const isNew=!met.includes(seed);const is=one=>one.level===level&&
one.seed===seed;const isBack=next.again.some(is);next.done++;if(isNew)next.met={...next.met,[level]:[
...met,seed]};if(!isBack)next.seeds={...next.seeds,[level]:Math.max(next.seeds[level]??0,seed)};next.
again=next.again.filter(one=>!is(one));if(outcome!=="right"){const back=others(seed,graphs).map((other,k)=>({
seed:other,at:next.done+AFTER[k]}));next.again=[...next.again,...back.map(one=>({level,...one}))]}if(level!==
next.level&&!isBack)[next.level,next.row]=[level,0];if(level===next.level&&isNew){next.row={right:next.
row+1,part:next.row}[outcome]??0}const passes=next.row>=IN_A_ROW;if(passes){next.passed=Math.max(next.
passed,level);next.level=Math.min(level+1,levels);next.row=0}return[next,passes]};var due=(kept,visit=false,level=void 0)=>{
const{again,done}=begun(kept);const isDue=one=>(visit||one.at<=done)&&(level??one.level)===one.level;
return again.filter(isDue).sort((a,b)=>a.at-b.at)[0]};var stateOf=(kept,level)=>{const{row,passed,seeds,
level:now}=begun(kept);if(due(kept,false,level))return["↻","due again"];if(level<=passed)return["✓",
"passed"];if(!seeds[level])return["–","not begun"];const right=level===now?row:0;return[`${right}/${IN_A_ROW}`,
`${right} of ${IN_A_ROW} in a row`]};var POWERS="⁰¹²³⁴⁵⁶⁷⁸⁹";var SIGNS={"−":"-","–":"-","×":"*","·":"*","⋅":"*",
"÷":"/","⁄":"/"};var TOKEN=/(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|\*\*|[-+*/^()]/giy;var plain=text=>text.
split("=").at(-1).replace(/⁻?[⁰¹²³⁴-⁹]+/g,all=>`^${all.replace(/./g,x=>x==="⁻"?"-":POWERS.
indexOf(x))}`).replace(/(\d)\s*([¼-¾⅐-⅞])/g,"$1 $2").normalize("NFKC").replace(/[−–×·⋅÷⁄]/g,
sign=>SIGNS[sign]).trim();var mixed=text=>text.replace(/(?<![\d.,])(\d+) ([1-9]\d*)\s*\/\s*(\d+)(?![\d.,])/g,
(all,whole2,above,below)=>+above<+below?`(${whole2}+${above}/${below})`:all);var tokens=text=>{TOKEN.
lastIndex=0;const found=[];while(TOKEN.lastIndex<text.length){const[one]=TOKEN.exec(text)??[];if(!one)
return[];found.push(one)}return found};var computed2=text=>{const left=tokens(text);const next=(...signs)=>signs.
includes(left[0])?left.shift():void 0;const atom=()=>{if(!next("("))return/\d/.test(left[0])?Number(
left.shift()):NaN;const inside=sum();return next(")")?inside:NaN};const power=()=>{const base=atom();
return next("^","**")?base**signed2():base};const signed2=()=>{const sign=next("-","+");if(!sign)return power();
return sign==="-"?-signed2():signed2()};const product2=()=>{let found2=signed2();for(let sign;sign=next(
"*","/");){const by=signed2();found2=sign==="*"?found2*by:found2/by}return found2};const sum=()=>{let found2=product2();
for(let sign;sign=next("+","-");)found2+=sign==="-"?-product2():product2();return found2};const found=sum();
return left.length?NaN:found};var LONGEST=100;var numbersIn=text=>{if(text.length>LONGEST)return[];const written=mixed(
plain(text)).replace(/\s+/g,"");const ways=[written.replace(/(?<![\d.,])([1-9]\d{0,2})((?:,\d{3})+)(?!\d)/g,
all=>all.replaceAll(",",""))];if(!written.includes("."))ways.push(written.replace(/(\d*),(\d+)(?![\d,])/g,
"$1.$2"));return[...new Set(ways.map(computed2).filter(Number.isFinite))]};Object.assign(globalThis,{OPS,run,judgeTiles,matricesOf,numbersIn});Object.assign(globalThis,small_numbers_exports,
problem_exports,progress_exports,ramp_exports,start_exports);})();
