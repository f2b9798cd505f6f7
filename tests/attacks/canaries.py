# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of canaries: texts that do something where anybody takes them for more than text.

``CANARY`` stands for the path of a file that must never come to be, ``VALUE`` for what the text was before.
``hosted_evil`` and ``evil`` are in no file of ours, other than inside of a quoted text.
"""

from __future__ import annotations

FACTORS = 48611, 15485863
PRODUCT = str(FACTORS[0] * FACTORS[1])
"""What an evaluated canary leaves in a text."""
TOUCH = "lookup('pipe', 'touch CANARY')"
CANARIES: dict[str, str] = {
    "template": f"VALUE{{{{ {TOUCH} }}}}",
    "one template": f"{{{{ {TOUCH} ~ 'VALUE' }}}}",
    "expression": 'lookup("pipe","touch CANARY VALUE")',
    "fields": "%hVALUE%n%i%%{0.__class__}%(evil)s${VALUE}$HOME~/\\0",
    "substitution": "VALUE$(touch CANARY)`touch CANARY`;touch CANARY",
    "up": "../../evil/VALUE",
    "absolute": "CANARY/VALUE",
    "cell": "=cmd|'/C touch CANARY'!VALUE",
    "option": "-oProxyCommand=touch CANARY VALUE",
    "element": "VALUE'\"><img src=evil onerror=evil()>",
    "blocks": f"VALUE{{{{ {FACTORS[0]} * {FACTORS[1]} }}}}{{% set a = {TOUCH} %}}{{# {TOUCH} #}}",
    "header": f"#jinja2: variable_start_string:'[[', variable_end_string:']]'\n[[ {TOUCH} ]]VALUE",
    "tags": f"!unsafe '{{{{ {TOUCH} }}}}' !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  3061\nVALUE",
    "shell": "VALUE'\"\n\\! touch CANARY\n|touch CANARY&\n$(touch CANARY)\n",
    "lines": "VALUE\nExecStart=/bin/touch CANARY\nProxyCommand touch CANARY\n* * * * * root touch CANARY\n"
    "hosted_evil 1\nhosted_evil: 1\n- hosted_evil\n@cert-authority * evil\n",
    "quotes": 'VALUE"} 1\nhosted_evil{a="b"} 2\n# TYPE hosted_evil gauge\n\'; DROP TABLE a; --\\',
    "terminal": "VALUE\x1b[31m\x1b]0;owned\x07\x9b2J\x90q\x9c\r\b\x7f\x00",
    "direction": "VALUE\u202etxt\u2066\u200f\u2028\u0085\ufeff",
    "page": 'VALUE<script src="evil">evil()</script>\'"><!-- ]]><evil/>',
    "long": "VALUE" + "x" * 4000,
}
TURNS = len(CANARIES)
SPEAKABLE = 10
"""So many, the first ones, can be names in tasks: the collection takes none with a control character."""
