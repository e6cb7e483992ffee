#!/usr/bin/env node
/**
 * prose-check: finds sentences that break the section "Write" of AGENTS.md in comments, user-facing strings, test
 * titles and Markdown. It needs Node 20 and nothing else, and it changes no file.
 *
 *   node test/support/prose-check.mjs                       check every tracked file below the working directory
 *   node test/support/prose-check.mjs src/core/rooms README.md   check these files and folders only
 *   node test/support/prose-check.mjs --changed main        check only lines that differ from the commit `main`
 *   node test/support/prose-check.mjs --max 30              exit with 1 if there are more than 30 hits per 1,000 sentences
 *   node test/support/prose-check.mjs --summary             print the tables and no single hits
 *   node test/support/prose-check.mjs --only tell,fronted-of   check these habits only
 *   node test/support/prose-check.mjs --kind text           check one kind of prose: comment, text, title, heading, paragraph
 *   node test/support/prose-check.mjs --list                print the habits with their regular expressions
 *
 * Output: one line per hit, `file:line  habit  "text" -> advice`, then hits per 1,000 sentences by area and by habit.
 * Prose is: comments in .ts, .tsx, .js, .mjs and .css files, and lines that start with `#` in configuration files and
 * scripts. Prose is also: string literals, JSX text and HTML text of at least four words outside tests (errors, log
 * messages, command-line help, schema descriptions, console texts), values of `summary:` and `description:` in YAML,
 * titles of tests, and Markdown outside code blocks. Suppress one line with the marker `prose-check: ignore` on it.
 * Exit codes: 0 done, 1 more hits than --max allows, 2 wrong usage.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'

/**
 * `at: 'sentence'` matches at the start of a sentence, `'clause'` also after a semicolon or colon, `'any'` anywhere.
 * `kinds` limits a habit to some kinds of prose (comment, text, title, heading, paragraph).
 */
const habits = [
  {
    name: 'clause-as-subject',
    at: 'clause',
    pattern:
      /^(?:(?:and|but|or|so) )?(?:what(?! (?:if|about)\b)|who|whom|whose|whoever|whomever|whatever|whichever|those (?:who|that|which|of|in|on|with)|those)\b(?![\s\S]*\?$)/i,
    advice: 'name the subject: "A client that …", "The update that …"',
  },
  {
    name: 'clause-as-subject',
    at: 'any',
    pattern:
      /, (?:(?:and|but|or|so) )?(?:what|whoever|whatever) (?!to\b)\w+|, (?:and|but|or|so) (?:who|those who|those that) \w+/i,
    advice: 'name the subject, or start a new sentence',
  },
  {
    name: 'fronted-of',
    at: 'clause',
    pattern: /^(?:(?:and|but) )?of (?!course\b|note\b)/i,
    advice: 'subject first: "Each API key has …", not "Of each API key …"',
  },
  {
    name: 'where-clause',
    at: 'clause',
    pattern: /^(?:(?:and|but) )?where (?!to\b)(?:\S+ ){2,}(?![\s\S]*\?$)/i,
    advice: 'a condition is "If …"; a place is a noun: "The node that …"',
  },
  {
    name: 'tell',
    at: 'any',
    pattern: /\b(?:tell|tells|told|telling)\b/i,
    advice: 'send, notify, report, return, log, distinguish',
  },
  {
    name: 'say',
    at: 'any',
    pattern: /\b(?:say|says|said|saying)\b/i,
    advice: 'send, state, contain, name, report, specify',
  },
  {
    name: 'is-none',
    at: 'any',
    pattern:
      /(?<!\bthere )\b(?:is|are|was|were|be) (?:none\b|no (?!longer\b|more\b|one\b|less\b|fewer\b|different\b|earlier\b|later\b|need\b)\w+)/i,
    advice: '"is not a …", "does not have …"',
  },
  {
    name: 'so-many',
    at: 'any',
    pattern: /\bso (?:many|much|long|often|few)\b(?! (?:as|that)\b)/i,
    advice: 'name the quantity: "at most `max` …", "every `intervalMs`"',
  },
  {
    name: 'somebody',
    at: 'any',
    pattern: /\b(?:somebody|nobody|everybody|anybody|somebody's|nobody's)\b/i,
    advice: 'name the actor: a client, a user, a process, no caller',
  },
  {
    name: 'is-to',
    at: 'any',
    pattern:
      /^to be [a-z]+(?:ed|en|n|t|one)\b|\b(?:is|are|was|were) to (?:be [a-z]+|(?!the\b|a\b|an\b|it\b|them\b|this\b|that\b|its\b)[a-z]+)\b/i,
    advice: '"must", "will", or an imperative: "Call once."',
  },
  {
    name: 'question-as-doc',
    at: 'sentence',
    kinds: ['comment'],
    pattern: /^(?:is|are|was|were|does|do|did|has|have|had|may|can|could|must|should|will|would) [\s\S]*\?$/i,
    advice: '"Returns whether …" or "True if …"',
  },
  {
    name: 'causative-has',
    at: 'sentence',
    kinds: ['comment'],
    pattern:
      /^has (?:the|all|each|every|one|another|other|others|a|an|its|it|them|clients|nodes|rooms|calls|yjs|node|leveldb|this|those|logs|messages) (?![\s\S]*\?$)/i,
    advice: 'the verb itself: "Makes sessions follow …", "Records calls …"',
  },
  {
    name: 'anew',
    at: 'any',
    pattern: /\b(?:anew|once more|by and by|for good|for ever|over and over|again and again|some day)\b/i,
    advice: 'again, permanently, indefinitely, repeatedly, eventually',
  },
  {
    name: 'trailing-too',
    at: 'any',
    pattern: /, too\b/i,
    advice: '"also" before the verb',
  },
  {
    name: 'as-far-as',
    at: 'any',
    pattern: /\bas far as\b/i,
    advice: '"if", "where", "the part that"',
  },
  {
    name: 'make-of',
    at: 'any',
    pattern:
      /\b(?:make|makes|made|making)\b(?: (?!sure\b|out\b)[\w`]+){0,3} of (?:it|them|what|whatever|the|a|an|its|their|one|all|those|these|every|each)\b/i,
    advice: 'create from, generate from, derive, compute',
  },
  {
    name: 'come-and-go',
    at: 'any',
    pattern:
      /\b(?:what|who|whoever|that|which) (?:has |have |had |have |may |can |still )?(?:come|comes|came|goes|went|is gone|are gone|was gone)\b/i,
    advice: 'received, arrives, connects; deleted, removed, disconnects, stopped',
  },
  {
    name: 'private-word',
    at: 'any',
    pattern:
      /\b(?:newcomers?|knock(?:s|ing)?|doors?|overheard|hear(?:s|d)? (?:of|from)|not heard|strays?|dear|dearer|is at home|are at home|its turn|their turn|whose turn|takes? turns|lots of|sees to it|see to it|looks after|looked after|puts? aside|does no harm|does no matter)\b/i,
    advice: 'see vocabulary.md',
  },
  {
    name: 'long-sentence',
    at: 'sentence',
    kinds: ['comment', 'text', 'title', 'paragraph'],
    test: (sentence) => sentence.split(/\s+/).filter((word) => /[a-z]/i.test(word)).length > 40,
    advice: 'at most 25 words is good, more than 40 is two sentences',
  },
]

const usage =
  'usage: node test/support/prose-check.mjs [--changed BASE] [--max N] [--summary] [--only habit,…] [--kind KIND] [--list] [paths…]'

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        changed: { type: 'string' },
        max: { type: 'string' },
        only: { type: 'string' },
        kind: { type: 'string' },
        summary: { type: 'boolean', default: false },
        list: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    console.error(`${error.message}\n${usage}`)
    return process.exit(2)
  }
}

const { values, positionals } = readArguments()
const max = values.max === undefined ? null : Number(values.max)
if (max !== null && !(max >= 0)) {
  console.error(`--max must be a number, not ${values.max}\n${usage}`)
  process.exit(2)
}
const chosen = values.only === undefined ? null : new Set(values.only.split(','))
const active = habits.filter(({ name }) => chosen === null || chosen.has(name))
for (const name of chosen ?? []) {
  if (habits.some((habit) => habit.name === name)) continue
  console.error(`--only: there is no habit ${name}; --list prints all\n${usage}`)
  process.exit(2)
}
const kinds = ['comment', 'text', 'title', 'heading', 'paragraph']
if (values.kind !== undefined && !kinds.includes(values.kind)) {
  console.error(`--kind must be one of ${kinds.join(', ')}, not ${values.kind}\n${usage}`)
  process.exit(2)
}
if (values.list) {
  for (const { name, at, pattern, advice } of active)
    console.log(`${name} (${at}): ${pattern ?? 'more than 40 words'} -> ${advice}`)
  process.exit(0)
}

const git = (...parameters) => {
  try {
    return execFileSync('git', parameters, {
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  } catch {
    return null
  }
}

/** Returns whether the file is a configuration file or a script with `#` comments. */
const isConfiguration = (file) =>
  /\.(?:ya?ml|service|conf|sh|npmrc)$|(?:^|\/)(?:Caddyfile|Dockerfile)$|^\.ci\//.test(file)

/** Paths below the working directory: tracked files and files that git does not ignore; given files always. */
function filesToCheck() {
  const given = positionals.length > 0 ? positionals : ['.']
  const found = given.flatMap((path) => {
    if (!existsSync(path)) {
      console.error(`${path} does not exist\n${usage}`)
      process.exit(2)
    }
    if (statSync(path).isFile()) return [relative('.', resolve(path))]
    const listed = git('ls-files', '--cached', '--others', '--exclude-standard', '--', path)
    if (listed === null) {
      console.error(`${path} is not in a git repository: name single files`)
      process.exit(2)
    }
    return listed.split('\n').filter(Boolean)
  })
  return [...new Set(found)].filter(
    (file) =>
      (/\.(?:tsx?|mjs|js|md|css|html)$/.test(file) || isConfiguration(file)) &&
      !/(?:^|\/)(?:node_modules|dist|fixtures)\//.test(file) &&
      !/\.d\.ts$|\.min\.js$|package-lock/.test(file) &&
      existsSync(file),
  )
}

/** Line numbers that differ from `base`, by file; null where everything counts. */
function changedLines(base) {
  const diff = git('diff', '--unified=0', '--no-color', '--relative', base, '--')
  if (diff === null) {
    console.error(`--changed: git cannot compare with ${base}`)
    process.exit(2)
  }
  const lines = new Map()
  let current = new Set()
  for (const line of diff.split('\n')) {
    if (line.startsWith('+++ ')) {
      current = new Set()
      lines.set(line.slice(6), current)
    }
    const hunk = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line)
    if (hunk !== null) for (let i = 0; i < Number(hunk[2] ?? 1); i++) current.add(Number(hunk[1]) + i)
  }
  const untracked = git('ls-files', '--others', '--exclude-standard') ?? ''
  for (const file of untracked.split('\n').filter(Boolean)) lines.set(file, null)
  return lines
}

/** A part of the prose: its `kind`, and pieces of text with the line that each starts on. */
const block = (kind, pieces) => ({ kind, pieces })

const isProse = (text) => {
  const words = text.match(/[A-Za-z][A-Za-z’'-]+/g) ?? []
  return (
    words.length >= 4 &&
    /[a-z] [a-z]/.test(text) &&
    !/^\s*(?:select|insert into|update \w+ set|delete from|create (?:table|index|schema|unlogged)|alter|with \w+ as|lock|drop|set |begin|commit)\b/i.test(
      text,
    )
  )
}

/** Comments, strings and JSX text of a source file. Regular expressions are recognized by what stands before them. */
function sourceBlocks(text, { isTest, isJsx }) {
  const blocks = []
  const rest = [] // code without comments and strings, for JSX text
  let line = 1
  let lastLine = null // block of adjacent `//` comments
  const code = [] // characters of code, whose last ones distinguish a division from a regular expression
  const lastCode = () => code.slice(-60).join('')
  const keep = (char) => {
    rest.push(char)
    if (char > ' ' && char !== '\u00a0') code.push(char)
  }
  const addString = (value, startLine) => {
    const title = /^\s*(?:\[[A-Z]+-?\d+\]\s*)+/.exec(value)
    const isTitle =
      title !== null || /(?:^|[^\w.])(?:it|test|describe)(?:\.\w+)*(?:\([^()]*\))?\($/.test(lastCode())
    if (isTitle) blocks.push(block('title', [[value.slice(title?.[0].length ?? 0), startLine]]))
    else if (!isTest && isProse(value)) blocks.push(block('text', [[value, startLine]]))
  }
  for (let i = 0; i < text.length; i++) {
    const char = text[i]
    const next = text[i + 1]
    if (char === '\n') {
      line += 1
      rest.push(char)
      continue
    }
    if (char === '/' && next === '/') {
      const end = text.indexOf('\n', i) === -1 ? text.length : text.indexOf('\n', i)
      const piece = [text.slice(i + 2, end).trim(), line]
      if (lastLine !== null && lastLine.at === line - 1) {
        lastLine.block.pieces.push(piece)
        lastLine.at = line
      } else {
        lastLine = { block: block('comment', [piece]), at: line }
        blocks.push(lastLine.block)
      }
      i = end - 1
      continue
    }
    if (char === '/' && next === '*') {
      const end = text.indexOf('*/', i + 2) === -1 ? text.length : text.indexOf('*/', i + 2)
      const lines = text.slice(i + 2, end).split('\n')
      blocks.push(
        block(
          'comment',
          lines.map((raw, index) => [
            raw
              .replace(/^\s*\*+ ?/, '')
              .replace(/^\*/, '')
              .trim(),
            line + index,
          ]),
        ),
      )
      line += lines.length - 1
      i = end + 1
      rest.push(' ')
      continue
    }
    if ((char === "'" && !/[A-Za-z]/.test(text[i - 1] ?? '')) || char === '"') {
      const match = new RegExp(`^${char}((?:[^${char}\\\\\\n]|\\\\.)*)${char}`).exec(text.slice(i, i + 4000))
      if (match !== null) {
        addString(match[1].replace(/\\(.)/g, '$1'), line)
        i += match[0].length - 1
        keep(isJsx ? ' ' : '_')
        continue
      }
      rest.push(char)
      continue
    }
    if (char === '`') {
      let value = ''
      const start = line
      let j = i + 1
      for (let depth = 0; j < text.length && (text[j] !== '`' || depth > 0); j++) {
        if (text[j] === '\n') line += 1
        if (depth === 0 && text[j] === '\\') {
          j += 1
          value += ' '
        } else if (depth === 0 && text[j] === '$' && text[j + 1] === '{') {
          depth = 1
          j += 1
          value += 'X'
        } else if (depth > 0) depth += text[j] === '{' ? 1 : text[j] === '}' ? -1 : 0
        else value += text[j] === '\n' ? ' ' : text[j]
      }
      addString(value, start)
      i = j
      keep('_')
      continue
    }
    if (
      char === '/' &&
      !isJsxClose(text, i) &&
      /(?:^|[=(,:[!&|?{};+\-*%<>~^]|return|typeof|case)$/.test(lastCode())
    ) {
      const match = /^\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/.exec(text.slice(i, i + 2000))
      if (match !== null) {
        i += match[0].length - 1
        keep('_')
        continue
      }
    }
    keep(char)
  }
  if (isJsx) blocks.push(...jsxBlocks(rest.join('')))
  return blocks
}

const isJsxClose = (text, i) => text[i - 1] === '<' || text[i + 1] === '>'

function jsxBlocks(code) {
  const found = []
  for (const match of code.matchAll(/>([^<>{}]+)(?=[<{])/g)) {
    const text = match[1].replace(/\s+/g, ' ').trim()
    if (/[=;|&()]|\b(?:const|return|function|extends)\b/.test(text) || !isProse(text)) continue
    found.push(block('text', [[text, code.slice(0, match.index).split('\n').length]]))
  }
  return found
}

/** Comments on lines of their own, and the values of `summary:` and `description:` on one line. */
function configurationBlocks(text) {
  const blocks = []
  let comment = null
  for (const [index, line] of text.split('\n').entries()) {
    const piece = /^\s*#(?!!)(.*)/.exec(line)?.[1]
    if (piece === undefined) comment = null
    else {
      if (comment === null) blocks.push(block('comment', []))
      comment = blocks.at(-1)
      comment.pieces.push([piece.trim(), index + 1])
    }
    const value = /^\s*(?:summary|description):\s*["']?(\w.*?)["']?$/.exec(line)?.[1]
    if (value !== undefined) blocks.push(block('text', [[value, index + 1]]))
  }
  return blocks
}

/** The blocks of a file of any kind. */
function blocksOf(file, text) {
  if (file.endsWith('.md')) return markdownBlocks(text)
  if (file.endsWith('.html')) return jsxBlocks(text)
  if (isConfiguration(file)) return configurationBlocks(text)
  const isTest = /(?:^|\/)(?:test|tests|bench)\//.test(file) || /\.test\.\w+$/.test(file)
  return sourceBlocks(text, { isTest: isTest || file.endsWith('.css'), isJsx: file.endsWith('.tsx') })
}

/** Paragraphs, list items, table cells and headings of Markdown, without code blocks. */
function markdownBlocks(text) {
  const blocks = []
  let paragraph = null
  let fence = null
  const end = () => {
    paragraph = null
  }
  for (const [index, raw] of text.split('\n').entries()) {
    const number = index + 1
    const mark = /^\s*(`{3,}|~{3,})/.exec(raw)
    if (mark !== null) {
      if (fence === null) fence = mark[1][0]
      else if (mark[1].startsWith(fence)) fence = null
      end()
      continue
    }
    if (fence !== null) continue
    const line = raw
      .replace(/!\[[^\]]*\]\([^)]*\)/g, ' ')
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/<[^>]+>/g, ' ')
      .replace(/`[^`]*`/g, 'X')
      .replace(/\*\*|__/g, '')
    if (/^\s*$/.test(line) || /^\s*\|?[\s:|-]+\|?\s*$/.test(line)) {
      end()
      continue
    }
    const heading = /^#{1,6}\s+(.*)/.exec(line)
    if (heading !== null) {
      blocks.push(block('heading', [[heading[1], number]]))
      end()
      continue
    }
    if (/^\s*\|/.test(line)) {
      for (const cell of line.split('|'))
        if (/\w/.test(cell)) blocks.push(block('paragraph', [[cell.trim(), number]]))
      end()
      continue
    }
    const item = /^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ x]\]\s+)?(?:[A-Z]+-\d+\s+)?(.*)/.exec(line)
    if (item !== null || paragraph === null) {
      paragraph = block('paragraph', [[(item?.[1] ?? line).replace(/^\s*>\s?/, '').trim(), number]])
      blocks.push(paragraph)
    } else paragraph.pieces.push([line.replace(/^\s*>\s?/, '').trim(), number])
  }
  return blocks
}

/** The sentences of a block with the line that each starts on. Tags of JSDoc end a sentence and are left out. */
function sentencesOf({ kind, pieces }) {
  const starts = []
  let text = ''
  for (const [piece, line] of pieces) {
    starts.push([text.length, line])
    text += piece === '' && kind === 'comment' ? '\n\n ' : `${piece} `
  }
  const lineAt = (offset) => {
    let found = starts[0][1]
    for (const [start, line] of starts) if (start <= offset) found = line
    return found
  }
  const sentences = []
  const boundary =
    /(?<![\s.(](?:e\.g|i\.e|etc|vs|cf))[.!?][)"”’'`]*\s+(?=["“(‘'`[]*[A-Z0-9`])|\n\n|(?:^|\s)@(?:param(?:\s+\S+)?|returns|throws|source|see|example|default|deprecated|internal|link)\s/g
  let from = 0
  const add = (to) => {
    const raw = text.slice(from, to)
    const sentence = raw.trim()
    if (/[A-Za-z]{2}/.test(sentence))
      sentences.push({ sentence, line: lineAt(from + raw.length - raw.trimStart().length) })
  }
  for (const match of text.matchAll(boundary)) {
    const isTag = /@\w/.test(match[0])
    add(isTag ? match.index : match.index + match[0].trimEnd().length)
    from = match.index + match[0].length
  }
  add(text.length)
  return sentences
}

const quoted = (text) => (text.length > 70 ? `${text.slice(0, 69).trimEnd()}…` : text)

function hitsIn({ sentence, line }, kind) {
  const clauses = sentence.split(/[;:] +/)
  const found = []
  for (const habit of active) {
    if (habit.kinds !== undefined && !habit.kinds.includes(kind)) continue
    if (found.some((hit) => hit.habit.name === habit.name)) continue
    const parts = habit.at === 'clause' ? clauses : [sentence]
    for (const part of parts) {
      const text = part.replace(/^["“'`(‘*\s]+/, '')
      const match =
        habit.test === undefined ? habit.pattern.exec(text) : habit.test(text) ? { index: 0 } : null
      if (match === null) continue
      found.push({ line, habit, text: quoted(text.slice(Math.max(0, match.index - 20))) })
      break
    }
  }
  return found
}

/** The area of a file in the summary, such as a folder of `src`. */
function areaOf(file, kind) {
  if (/(?:^|\/)SPEC\.md$/.test(file)) return 'test/SPEC.md'
  if (file === 'README.md') return 'README.md'
  const folder = /^src\/(?:([^/]+)\/)?/.exec(file)?.[1]
  if (/^src\/docs\/[^/]+\.md$/.test(file)) return 'src/docs (chapters)'
  if (file.startsWith('src/') && file.endsWith('.md')) return 'src/**/README.md'
  if (file.startsWith('src/')) {
    const part = folder === undefined ? 'src (top)' : `src/${folder}`
    return `${part}${kind === 'comment' ? '' : ' (strings)'}`
  }
  if (file.startsWith('test/')) return kind === 'title' ? 'test (titles)' : 'test (comments)'
  if (file.startsWith('bench/') || file.startsWith('examples/')) return file.split('/')[0]
  return file.endsWith('.md') ? 'other Markdown' : 'other'
}

const changed = values.changed === undefined ? null : changedLines(values.changed)
const areas = new Map()
const byKind = new Map()
const kindNames = {
  comment: 'comments',
  text: 'strings',
  title: 'test titles',
  heading: 'Markdown',
  paragraph: 'Markdown',
}
const byHabit = new Map()
let sentencesTotal = 0
let hitsTotal = 0

for (const file of filesToCheck()) {
  const lines = changed === null ? null : changed.has(file) ? changed.get(file) : new Set()
  if (lines !== null && lines.size === 0) continue
  const text = readFileSync(file, 'utf8')
  const source = text.split('\n')
  for (const { kind, pieces } of blocksOf(file, text)) {
    if (values.kind !== undefined && kind !== values.kind) continue
    for (const sentence of sentencesOf({ kind, pieces })) {
      if (lines !== null && !lines.has(sentence.line)) continue
      const area = areaOf(file, kind)
      const counts = areas.get(area) ?? { sentences: 0, hits: 0 }
      areas.set(area, counts)
      const ofKind = byKind.get(kindNames[kind]) ?? { sentences: 0, hits: 0 }
      byKind.set(kindNames[kind], ofKind)
      counts.sentences += 1
      ofKind.sentences += 1
      sentencesTotal += 1
      if (/prose-check: ignore/.test(source[sentence.line - 1] ?? '')) continue
      for (const { line, habit, text } of hitsIn(sentence, kind)) {
        counts.hits += 1
        ofKind.hits += 1
        hitsTotal += 1
        byHabit.set(habit.name, (byHabit.get(habit.name) ?? 0) + 1)
        if (!values.summary) console.log(`${file}:${line}  ${habit.name}  "${text}" -> ${habit.advice}`)
      }
    }
  }
}

const rate = (hits, sentences) => (sentences === 0 ? 0 : (1000 * hits) / sentences)
const row = (name, hits, sentences) =>
  `${name.padEnd(30)} ${String(hits).padStart(6)} ${String(sentences).padStart(8)} ${rate(hits, sentences).toFixed(0).padStart(8)}`

console.log(
  `\n${'area'.padEnd(30)} ${'hits'.padStart(6)} ${'sentences'.padStart(8)} ${'per 1000'.padStart(8)}`,
)
for (const [area, { hits, sentences }] of [...areas].sort()) console.log(row(area, hits, sentences))
console.log(`\n${'habit'.padEnd(30)} ${'hits'.padStart(6)}`)
for (const [name, hits] of [...byHabit].sort((a, b) => b[1] - a[1]))
  console.log(`${name.padEnd(30)} ${String(hits).padStart(6)}`)
console.log(
  `\n${'kind'.padEnd(30)} ${'hits'.padStart(6)} ${'sentences'.padStart(8)} ${'per 1000'.padStart(8)}`,
)
for (const [kind, { hits, sentences }] of [...byKind].sort()) console.log(row(kind, hits, sentences))
console.log(row('total', hitsTotal, sentencesTotal))
if (max !== null && rate(hitsTotal, sentencesTotal) > max) {
  console.log(`more than ${max} hits per 1,000 sentences`)
  process.exit(1)
}
