# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The style of the page: light and dark, on phones and on paper."""

from __future__ import annotations

import base64
import hashlib

STYLE = """
:root{color-scheme:light dark;--bg:#f6f7f9;--card:#fff;--ink:#17202b;--soft:#515d6b;--line:#dde2e8;
--accent:#1f5fbf;--good:#16794a;--warn:#9a5b00;--bad:#b3261e;--calm:#2a62b8;--dim:#667180;
--p0:#3568c0;--p1:#d9822b;--p2:#3f9a6b;--p3:#a34f9c;--p4:#c0483f;--p5:#5fa8c9;--p6:#8a7a2f;--p7:#8792a0}
@media (prefers-color-scheme:dark){:root{--bg:#11161c;--card:#1a2129;--ink:#e7ecf2;--soft:#a5b1be;
--line:#323c47;--accent:#8ab4f8;--good:#5cc792;--warn:#e8ae55;--bad:#ff8a80;--calm:#8ab4f8;--dim:#9aa7b4;
--p0:#6f9ceb;--p1:#eba35a;--p2:#63bf8f;--p3:#c983c3;--p4:#e57f76;--p5:#86cbe8;--p6:#bdab57;--p7:#8f9bab}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,
"Noto Sans","DejaVu Sans",sans-serif;overflow-wrap:anywhere}
.page{max-width:1060px;margin:0 auto;padding:0 20px 64px}
a{color:var(--accent)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px;border-radius:4px}
.skip{position:absolute;left:-999px}
.skip:focus{left:12px;top:12px;background:var(--card);padding:8px 12px;z-index:1}
.defs{position:absolute}
header{padding:44px 0 12px}
h1{font-size:30px;line-height:1.2;margin:0;letter-spacing:-.01em}
h2{font-size:22px;line-height:1.3;margin:0 0 14px;letter-spacing:-.01em}
h3{font-size:17px;line-height:1.3;margin:0}
p{margin:0}
.soft{color:var(--soft)}
.small{font-size:14px}
.lead{font-size:19px;line-height:1.45;margin:20px 0 0;max-width:46em}
nav ul{display:flex;flex-wrap:wrap;gap:4px 20px;list-style:none;padding:0;margin:18px 0 0}
nav a{display:inline-block;padding:4px 0}
section{margin-top:52px;scroll-margin-top:20px}
section>p.soft{max-width:46em;margin:-10px 0 18px}
.box+p.soft{margin:12px 0 0}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(178px,1fr));gap:14px;margin:28px 0 0}
.cards>div,.box{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:18px 20px}
.cards dt{color:var(--soft);font-size:14px}
.cards dd{margin:4px 0 0}
.cards dd.answer{font-size:21px;line-height:1.3;font-weight:650}
.cards dd+dd{font-size:14px;color:var(--soft)}
.icon{width:16px;height:16px;flex:none;vertical-align:-2px}
.sign{white-space:nowrap}
.good{fill:var(--good)}.warn{fill:var(--warn)}.bad{fill:var(--bad)}.calm{fill:var(--calm)}.dim{fill:var(--dim)}
.matters{list-style:none;padding:4px 20px;margin:0}
.matters>li{padding:14px 0}
.matters>li+li{border-top:1px solid var(--line)}
.matters h3{display:flex;gap:10px;align-items:baseline}
.matters h3 .icon{vertical-align:0;align-self:center}
.matters .when{margin-left:auto;font-weight:400;font-size:14px;color:var(--soft);white-space:nowrap}
.matters h3{font-size:16px}
.matters ul{margin:4px 0 0;padding:0 0 0 26px;list-style:none;font-size:15px}
.box+.box{margin-top:16px}
.head{display:flex;flex-wrap:wrap;gap:2px 16px;justify-content:space-between;align-items:baseline;
margin-bottom:14px}
.scroll{overflow-x:auto;margin:0 -20px;padding:2px 20px}
.graph{display:block}
.graph rect{fill:var(--bg);stroke:var(--line)}
.graph text{font-size:12px;fill:var(--soft);direction:ltr;unicode-bidi:isolate}
.graph .name{font-size:14px;font-weight:600;fill:var(--ink)}
.arrows{fill:none;stroke:var(--dim);stroke-width:1.5}
.arrows path{marker-end:url(#arrow)}
#arrow path{fill:var(--dim)}
details{margin-top:14px}
summary{cursor:pointer;color:var(--accent);width:max-content;max-width:100%}
table{border-collapse:collapse;width:100%;margin-top:10px}
th,td{text-align:left;vertical-align:top;padding:8px 14px 8px 0;border-top:1px solid var(--line)}
thead th{border-top:0;font-size:13px;font-weight:600;color:var(--soft)}
tbody th{font-weight:600}
.soft{font-weight:400}
.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
th:last-child,td:last-child{padding-right:0}
.columns{display:grid;grid-template-columns:auto 1fr;gap:4px 12px;margin:10px 0 4px}
.columns svg{display:block;width:100%;height:220px;overflow:visible}
.scale{display:flex;flex-direction:column;justify-content:space-between;margin:-10px 0;text-align:right;
font-size:12px;color:var(--soft);font-variant-numeric:tabular-nums;white-space:nowrap}
.dates{grid-column:2;display:flex;justify-content:space-between;font-size:12px;color:var(--soft)}
.lines{fill:none;stroke:var(--line);vector-effect:non-scaling-stroke}
.hit{fill:transparent}
.hit:hover{fill:var(--ink);fill-opacity:.08}
.p0{fill:var(--p0)}.p1{fill:var(--p1)}.p2{fill:var(--p2)}.p3{fill:var(--p3)}
.p4{fill:var(--p4)}.p5{fill:var(--p5)}.p6{fill:var(--p6)}.p7{fill:var(--p7)}
.legend{display:flex;flex-wrap:wrap;gap:4px 20px;list-style:none;padding:0;margin:10px 0 0;font-size:14px}
.legend svg{width:12px;height:12px;margin-right:8px;vertical-align:-1px}
.month{display:grid;grid-template-columns:repeat(auto-fit,minmax(132px,1fr));gap:14px 24px;margin:0 0 12px;
align-items:end}
.month dt{font-size:14px;color:var(--soft)}
.month dd{margin:0;font-size:19px;font-weight:600;font-variant-numeric:tabular-nums}
.cells{display:block;width:100%;min-width:150px;max-width:420px;height:auto}
.cells.one{display:inline-block;min-width:0;width:14px;height:14px;vertical-align:-2px}
.cells .fresh{fill:var(--good)}.cells .stale{fill:var(--warn)}
.cells .failed{fill:none;stroke:var(--bad);stroke-width:2}
.cells .none{fill:none;stroke:var(--dim);stroke-width:1.6}
.calendar td,.calendar tbody th{vertical-align:middle}
.calendar td:nth-child(2){width:44%}
.n+td:not(.n),.n+th:not(.n){padding-left:28px}
.span{display:flex;justify-content:space-between;max-width:420px;font-weight:400}
.flaws{margin:4px 0 0;padding-left:18px;font-size:14px}
.plain{margin:0;padding-left:20px}
footer{margin-top:60px;padding-top:16px;border-top:1px solid var(--line);font-size:14px;color:var(--soft)}
@media (max-width:620px){
.page{padding:0 14px 40px}
header{padding-top:28px}
h1{font-size:25px}
.lead{font-size:17px}
.cards>div,.box{padding:14px 16px}
.matters{padding:4px 16px}
.scroll{margin:0 -16px;padding:2px 16px}
.wide thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.wide thead tr{padding:0}
.wide tr{display:flex;flex-wrap:wrap;gap:2px 14px;border-top:1px solid var(--line);padding:10px 0}
.wide th,.wide td{border:0;padding:0;text-align:left}
.wide tbody th,.calendar td:nth-child(2){flex:1 0 100%;width:100%}
.wide td.n+td{padding-left:0}
.wide td[data-of]::before{content:attr(data-of) " ";color:var(--soft);font-size:13px}
.cells{max-width:none}
}
@media print{
:root{color-scheme:light;--bg:#fff;--card:#fff;--ink:#000;--soft:#444;--line:#ccc;--accent:#000;
--good:#16794a;--warn:#9a5b00;--bad:#b3261e;--calm:#2a62b8;--dim:#667180;
--p0:#3568c0;--p1:#d9822b;--p2:#3f9a6b;--p3:#a34f9c;--p4:#c0483f;--p5:#5fa8c9;--p6:#8a7a2f;--p7:#8792a0}
@page{size:A4;margin:15mm}
body{font-size:10.5pt}
.page{max-width:none;padding:0}
header{padding-top:0}
nav,.skip,details{display:none}
section{margin-top:28px}
.cards{grid-template-columns:repeat(5,1fr);gap:8px}
.cards dd.answer{font-size:15px}
.cards>div,.box{padding:10px 12px;border-radius:6px}
.matters{padding:2px 12px}
.matters>li{padding:8px 0}
.cards>div,.matters>li,#spend .box,tr,.columns,.graph,figure{break-inside:avoid}
h2,h3,.head{break-after:avoid}
.scroll{overflow:visible;margin:0;padding:0}
.graph{max-width:100%;height:auto;max-height:240mm}
.columns svg{height:150px}
a{text-decoration:none}
}
"""
"""Colors and shapes are for both eyes and paper: every color comes with a shape of its own."""


def policy() -> str:
    """Return the Content-Security-Policy of the page: nothing is loaded, nothing runs, one style is known.

    The icon is empty, so that a browser does not ask the server for one.
    """
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
