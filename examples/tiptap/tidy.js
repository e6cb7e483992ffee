// The changes of the bot to a text, without any I/O: content in, content out. Put your language model here.

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

const word = String.raw`(?<![\p{L}&])`
const wordEnd = String.raw`(?!\p{L})`

/** Rules: name, pattern, replacement. */
const rules = [
  ['doubled words', new RegExp(`${word}(?!had|that)(\\p{L}+) +\\1${wordEnd}`, 'giu'), (_found, once) => once],
  [
    'spelling',
    new RegExp(`${word}(${Object.keys(spelling).join('|')})${wordEnd}`, 'giu'),
    (found) => likeFirst(found, spelling[found.toLowerCase()]),
  ],
  ['blanks', / {2,}/g, () => ' '],
  ['blanks', / +(?=[,.;:!?])/g, () => ''],
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
 * @returns the tidied content with a summary on top, and the changes in words; tidy content stays unchanged
 */
export function tidy(xml) {
  const changes = new Map()
  const [summaryBefore = ''] = summaryAtTop.exec(xml) ?? []
  const body = tidyTexts(xml.slice(summaryBefore.length), changes)
  const summary = summaryOf(body)
  if (summary !== summaryBefore) changes.set('summary on top', new Set())
  return { xml: summary + body, changes: [...changes].map(inWords) }
}

function tidyTexts(xml, changes) {
  let [beginsLine, literalDepth] = [true, 0]
  const parts = xml.split(/(<!\[CDATA\[.*?\]\]>|<[^>]*>)/s)
  return parts
    .map((part) => {
      const tag = /^<(\/?)([^\s/>!]+)[^>]*?(\/?)>$/.exec(part)
      if (tag !== null) {
        const [, closes, name, isEmpty] = tag
        if (literal.has(name) && !isEmpty) literalDepth += closes ? -1 : 1
        if (!marks.has(name)) beginsLine = true
        return part
      }
      if (part === '' || part.startsWith('<') || literalDepth > 0) return part
      const text = tidyText(part, beginsLine, changes)
      beginsLine = false
      return text
    })
    .join('')
}

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

const summaryAtTop = /^<heading[^>]*>Summary<\/heading><paragraph>[^<]*<\/paragraph>/

function summaryOf(body) {
  const words = body.replace(/<[^>]*>|&\w+;/g, ' ').match(/\p{L}[\p{L}\p{N}’'-]*/gu) ?? []
  if (words.length === 0) return ''
  const paragraphs = body.split('</paragraph>').length - 1
  const text = `${counted(words.length, 'word')} in ${counted(paragraphs, 'paragraph')}, from “${words[0]}” to “${words.at(-1)}”.`
  return `<heading level="2">Summary</heading><paragraph>${text}</paragraph>`
}

const counted = (count, noun) => `${count} ${noun}${count === 1 ? '' : 's'}`
