// The changes of the bot to a text, without any I/O: content in, edits out. Put your language model here.

const spelling = {
  teh: 'the',
  adn: 'and',
  recieve: 'receive',
  seperate: 'separate',
  definately: 'definitely',
}
/** Elements inside a line; every other element begins a sentence. */
const marks = new Set(['bold', 'italic', 'underline', 'strike', 'link', 'code'])
/** Elements whose content does not change. */
const literal = new Set(['code', 'codeBlock'])

const word = String.raw`(?<!\p{L})`
const wordEnd = String.raw`(?!\p{L})`

/** Rules: name, pattern, replacement. */
const rules = [
  ['doubled words', new RegExp(`${word}(?!had|that)(\\p{L}+) +\\1${wordEnd}`, 'giu'), (_found, once) => once],
  [
    'spelling',
    new RegExp(`${word}(${Object.keys(spelling).join('|')})${wordEnd}`, 'giu'),
    (found) => likeFirst(found, spelling[found.toLowerCase()]),
  ],
  ['blanks', /(?<=\S) {2,}(?=\S)/g, () => ' '],
  ['blanks', /(?<=\S) +(?=[,.;:!?])/g, () => ''],
  ['typography', /\.\.\./g, () => '…'],
  ['typography', / --? /g, () => ' – '],
  ['typography', /"([^"]*)"/g, (_found, quoted) => `“${quoted}”`],
  ['capital letters', new RegExp(`${word}i${wordEnd}`, 'gu'), () => 'I'],
  ['capital letters', /(?<=[.!?…] )\p{Ll}/gu, (found) => found.toUpperCase()],
]
const firstLetter = ['capital letters', /^\p{Ll}/u, (found) => found.toUpperCase()]

const likeFirst = (found, replacement) =>
  /^\p{Lu}/u.test(found) ? replacement[0].toUpperCase() + replacement.slice(1) : replacement

/**
 * @param xml content of a rich-text editor, as `/v2/crdt/get` returns it
 * @returns the edits for `/v2/crdt/edit` that tidy the content and write a summary on top, and the changes in
 * words; tidy content needs no edits
 */
export function tidy(xml) {
  const changes = new Map()
  const [top = '', summaryBefore = ''] = summaryAtTop.exec(xml) ?? []
  const [before, body] = [textsOf(top), textsOf(xml.slice(top.length))]
  for (const { parts } of body)
    for (const [index, part] of parts.entries())
      if (!part.isLiteral) part.tidied = tidyText(part.text, index === 0, changes)
  const words = body.map(({ parts }) => parts.map(({ tidied }) => tidied).join('')).join(' ')
  const summary = summaryOf(words, xml.slice(top.length).split('</paragraph>').length - 1)
  if (summary !== decoded(summaryBefore)) changes.set('summary on top', new Set())
  const edits = [...textEdits(before, body), ...summaryEdits(decoded(summaryBefore), summary)]
  return { edits, changes: [...changes].map(inWords) }
}

/**
 * Returns the texts of the content, each in parts with the same marks. A text ends at every element that is not
 * a mark. `gap` is a space if the text follows a line break in the same block.
 */
function textsOf(xml) {
  const texts = []
  let [parts, gap, literalDepth] = [null, blockEnd, 0]
  for (const part of xml.split(/(<!\[CDATA\[.*?\]\]>|<[^>]*>)/s)) {
    const [, closes, name, isEmpty] = /^<(\/?)([^\s/>!]+)[^>]*?(\/?)>$/.exec(part) ?? []
    if (name !== undefined) {
      if (literal.has(name) && !isEmpty) literalDepth += closes ? -1 : 1
      if (marks.has(name)) continue
      gap = name === 'hardBreak' ? ' ' : blockEnd
      parts = null
    } else if (part !== '' && !part.startsWith('<')) {
      if (parts === null) {
        parts = []
        texts.push({ gap, parts })
      }
      const text = decoded(part)
      parts.push({ text, tidied: text, isLiteral: literalDepth > 0 })
    }
  }
  return texts
}

const blockEnd = '\0'

const decoded = (text) => text.replace(/&(amp|lt|gt|#13);/g, (_found, name) => characters[name])
const characters = { amp: '&', lt: '<', gt: '>', '#13': '\r' }

const plain = (parts) => parts.map(({ text }) => text).join('')

/**
 * Returns an edit for each part that changes, so that new text gets the marks of its part. The last edit of the
 * document is the first one of the list: each edit then finds all text before its own unchanged.
 */
function textEdits(before, body) {
  let shown = [...before, ...body].map(({ gap, parts }) => gap + plain(parts)).join('')
  return body.toReversed().flatMap(({ gap, parts }) => {
    shown = shown.slice(0, shown.length - gap.length - plain(parts).length)
    return partEdits(parts, withSingleSpaces(shown))
  })
}

/** @param shown all texts before this one; `occurrence` counts the same places in them */
function partEdits(parts, shown) {
  const edits = []
  let rest = ''
  for (const [index, { text, tidied }] of [...parts.entries()].reverse()) {
    if (text !== tidied) {
      const quote = text.trim()
      const start = text.indexOf(quote)
      const before = plain(parts.slice(0, index)) + text.slice(0, start)
      const after = text.slice(start + quote.length) + rest
      const occurrence = shown.split(withSingleSpaces(before + quote + after)).length
      edits.push({
        replace: { find: { quote, before, after, occurrence }, with: tidied.trim(), format: 'text' },
      })
    }
    rest = tidied + rest
  }
  return edits
}

const withSingleSpaces = (text) => text.replace(/\s+/g, ' ')

function tidyText(given, beginsLine, changes) {
  const all = beginsLine ? [...rules, firstLetter] : rules
  return all.reduce(
    (text, [what, pattern, replacement]) =>
      text.replace(pattern, (...found) => {
        changes.set(what, (changes.get(what) ?? new Set()).add(found[0].trim()))
        return replacement(...found)
      }),
    given,
  )
}

function inWords([what, found]) {
  const places = [...found].filter((text) => text !== '')
  return places.length === 0 ? what : `${what}: ${places.join(', ')}`
}

const summaryAtTop = /^<heading[^>]*>Summary<\/heading><paragraph>([^<]*)<\/paragraph>/

function summaryOf(text, paragraphs) {
  const words = text.match(/\p{L}[\p{L}\p{N}’'-]*/gu) ?? []
  if (words.length === 0) return ''
  return `${counted(words.length, 'word')} in ${counted(paragraphs, 'paragraph')}, from “${words[0]}” to “${words.at(-1)}”.`
}

function summaryEdits(before, after) {
  if (before === after) return []
  if (after === '') return [{ remove: { target: { block: 1 } } }, { remove: { target: { block: 0 } } }]
  if (before !== '') return [{ replace: { find: before, with: after, occurrence: 1, format: 'text' } }]
  const content = `<heading level="2">Summary</heading><paragraph>${after}</paragraph>`
  return [{ insert: { at: 'start', content, format: 'xml' } }]
}

const counted = (count, noun) => `${count} ${noun}${count === 1 ? '' : 's'}`
