import { expect, test } from 'vitest'
import * as Y from 'yjs'
import {
  authored,
  deltaIn,
  docWith,
  key,
  loaded,
  replaceText,
  textOf,
  unitsOf,
  updatesOf,
} from './support.ts'

/** A document with this content, as a server loads it. */
function docOf(delta: readonly object[]): Y.Doc {
  const author = new Y.Doc()
  author.getText(key).applyDelta([...delta])
  return loaded(author)
}

/** The text with the insertions of the server in brackets. */
function marked(doc: Y.Doc, target: string): string {
  replaceText(doc, target)
  const shown = unitsOf(doc).map(({ id, value }) => (id.startsWith('2:') ? `[${value}]` : value))
  return shown.join('').replaceAll('][', '')
}

const bold = { bold: true }
const italic = { italic: true }
const header = { header: 1 }
const image = { image: 'a.png' }

test('[R3] combines many edits into one update, even inside a transaction of the caller', () => {
  const source = Array.from({ length: 50 }, (_, index) => `line ${index} stays as it is`).join('\n')
  const doc = docWith(source)
  const updates = updatesOf(doc, () =>
    doc.transact(() => {
      replaceText(doc, source.replaceAll('stays', 'remains'))
      doc.getMap('meta').set('by', 'caller')
    }),
  )
  expect(updates.length).toBe(1)
  expect(textOf(doc)).toBe(source.replaceAll('stays', 'remains'))
})

test('[R4] when a word is replaced, text that a user types at its end stays after the new word', () => {
  const server = docWith('hello world and more')
  const client = loaded(server, 3)
  const typed = updatesOf(client, () => client.getText(key).insert(11, '!'))
  replaceText(server, 'hello planet and more')
  for (const update of typed) Y.applyUpdate(server, update)
  expect(textOf(server)).toBe('hello planet! and more')
})

test('[R8] replaces only the changed lines, words or characters', () => {
  expect(marked(docWith('one two three\n'), 'one 2 three\n')).toBe('one [2] three\n')
  expect(marked(docWith('a line\nanother line\n'), 'a line\nthe very new one\nanother line\n')).toBe(
    'a line\n[the very new one\n]another line\n',
  )
  expect(marked(docWith('the colour of it'), 'the color of it')).toBe('the color of it')
  expect(marked(docWith('see example.com/a for it'), 'see example.com/abc for it')).toBe(
    'see example.com/a[bc] for it',
  )
  expect(marked(docWith('a quick fox'), 'a lazy fox')).toBe('a [lazy] fox')
  expect(marked(docWith('我喜欢吃苹果'), '我喜欢吃香蕉')).toBe('我喜欢吃[香蕉]')
})

test('[R23] joins two edits if only white space and punctuation are between them', () => {
  expect(marked(docWith('a new, green door'), 'a tall, blue door')).toBe('a [tall, blue] door')
  expect(marked(docWith('the red and big house'), 'the blue and old house')).toBe(
    'the [blue] and [old] house',
  )
  expect(marked(docWith('The quick fox'), 'A quick dog')).toBe('[A] quick [dog]')
})

test('[R23] does not mix the letters of two words of which less than half is the same', () => {
  expect(marked(docWith('keep this line'), 'keep it line')).toBe('keep [it] line')
  expect(marked(docWith('a line of it'), 'a new change of it')).toBe('a [new change] of it')
  expect(marked(docWith('the Unorganised list'), 'the unorganized list')).toBe('the [u]norgani[z]ed list')
  expect(marked(docWith('say Hel'), 'say Hello-everybody')).toBe('say Hel[lo-everybody]')
})

test('[R23] keeps unchanged words of a long text whose characters are clusters', () => {
  const doc = docWith('\u0928\u0926\u0940 \u0939\u093f '.repeat(9_000))
  const { deletions } = replaceText(doc, '\u0928\u0926\u0940 \u0939\u094b '.repeat(9_000))
  expect(deletions).toBe(9_000 * 2)
})

test('[R8] keeps a short unchanged passage between two edits if rewriting it would lose formatting or an embed', () => {
  const formatted = docOf([{ insert: 'x1 ' }, { insert: 'and', attributes: bold }, { insert: ' y1' }])
  expect(marked(formatted, 'p2 and q2')).toBe('[p2] and [q2]')
  expect(deltaIn(formatted)).toEqual([
    { insert: 'p2 ' },
    { insert: 'and', attributes: bold },
    { insert: ' q2' },
  ])
  const embedded = docOf([{ insert: 'x1 a' }, { insert: image }, { insert: 'b y1' }])
  expect(marked(embedded, 'p2 ab q2')).toBe('[p2] ab [q2]')
})

test('[R8] starts insertions and deletions at the start of a line or word if possible', () => {
  expect(marked(docWith('- a\n- b\n'), '- a\n- c\n- b\n')).toBe('- a\n[- c\n]- b\n')
  expect(marked(docWith('the end of the day'), 'the end of the end of the day')).toBe(
    'the end of the [end of the ]day',
  )
  expect(marked(docWith('aaaa'), 'aaaaa')).toContain('[a]')
})

test('[R8] gives replaced text the attributes of the first replaced character', () => {
  const doc = docOf([{ insert: 'plain ' }, { insert: 'strong', attributes: bold }, { insert: ' tail' }])
  replaceText(doc, 'plain weak tail')
  expect(deltaIn(doc)).toEqual([
    { insert: 'plain ' },
    { insert: 'weak', attributes: bold },
    { insert: ' tail' },
  ])
})

test('[R8] gives inserted text the attributes that both of its neighbors share', () => {
  const doc = docOf([
    { insert: 'bold ', attributes: bold },
    { insert: 'both ', attributes: { ...bold, ...italic } },
    { insert: 'italic', attributes: italic },
    { insert: ' plain' },
  ])
  replaceText(doc, 'bold & both & italic & plain')
  expect(deltaIn(doc)).toEqual([
    { insert: 'bold & ', attributes: bold },
    { insert: 'both ', attributes: { ...bold, ...italic } },
    { insert: '& italic', attributes: italic },
    { insert: ' & plain' },
  ])
})

test('[R8] gives text that is inserted at the end of a line the attributes of its left neighbor, and text at the start of a line no attributes', () => {
  const doc = docOf([
    { insert: 'strong', attributes: bold },
    { insert: '\n' },
    { insert: 'strong', attributes: bold },
  ])
  replaceText(doc, 'strong words\nso strong')
  expect(deltaIn(doc)).toEqual([
    { insert: 'strong words', attributes: bold },
    { insert: '\nso ' },
    { insert: 'strong', attributes: bold },
  ])
})

test('[R8] gives a new line break no attributes, and keeps the attributes of an existing line break', () => {
  const doc = docOf([
    { insert: 'Title' },
    { insert: '\n', attributes: header },
    { insert: 'strong text', attributes: bold },
  ])
  replaceText(doc, 'Title\nstrong\ntext')
  expect(deltaIn(doc)).toEqual([
    { insert: 'Title' },
    { insert: '\n', attributes: header },
    { insert: 'strong', attributes: bold },
    { insert: '\n' },
    { insert: 'text', attributes: bold },
  ])
})

test('[R7] when unformatted line breaks would be too expensive, formats all line breaks', () => {
  const doc = docOf([{ insert: 'old', attributes: bold }])
  const target = 'NEW\n'.repeat(6_000)
  replaceText(doc, target)
  const formatted = deltaIn(doc)
  expect(formatted.slice(0, 2)).toEqual([{ insert: 'NEW', attributes: bold }, { insert: '\n' }])
  expect(formatted.at(-1)).toMatchObject({ attributes: bold })
  expect(formatted.length).toBeLessThan(6_000)
  expect(textOf(doc) === target).toBe(true)
})

test('[R8] accepts attribute names that are also properties of every object, such as `constructor`', () => {
  const attributes = { constructor: 'x', toString: 'y' }
  const doc = docOf([{ insert: 'one two', attributes }, { insert: ' three' }])
  replaceText(doc, 'one 2 three')
  expect(deltaIn(doc)).toEqual([{ insert: 'one 2', attributes }, { insert: ' three' }])
})

test('[R8] keeps cursors in unchanged text at their position', () => {
  const doc = docWith('first line\nsecond line\nthird line\n')
  const cursor = Y.createRelativePositionFromTypeIndex(doc.getText(key), 15)
  replaceText(doc, 'a new first line\nsecond line\n')
  const found = Y.createAbsolutePositionFromRelativePosition(cursor, doc)
  expect(textOf(doc).slice(0, found?.index)).toBe('a new first line\nseco')
})

test('[R9] when text next to an embed is replaced, keeps the embed on the same side of the text', () => {
  const doc = docOf([
    { insert: 'a ' },
    { insert: image },
    { insert: 'cat' },
    { insert: image },
    { insert: ' sat' },
  ])
  replaceText(doc, 'a dog sat')
  expect(deltaIn(doc)).toEqual([
    { insert: 'a ' },
    { insert: image },
    { insert: 'dog' },
    { insert: image },
    { insert: ' sat' },
  ])
})

test('[R9] deletes an embed that is between the characters of one deletion', () => {
  const doc = docOf([{ insert: 'keep\ndrop' }, { insert: image }, { insert: 'this\nkeep too' }])
  replaceText(doc, 'keep\nkeep too')
  expect(deltaIn(doc)).toEqual([{ insert: 'keep\nkeep too' }])
})

test('[R9] when an embed is at the start of a line, inserts new lines before the embed', () => {
  const doc = docOf([{ insert: 'one\n' }, { insert: image }, { insert: 'caption\n' }])
  replaceText(doc, 'one\ntwo\ncaption\n')
  expect(deltaIn(doc)).toEqual([{ insert: 'one\ntwo\n' }, { insert: image }, { insert: 'caption\n' }])
})

test('[R9] empties a text when the target is empty, even with embeds at its ends', () => {
  const doc = docOf([{ insert: image }, { insert: 'text' }, { insert: image }, { insert: image }])
  expect(replaceText(doc, '')).toEqual({ changed: true, insertions: 0, deletions: 7 })
  expect(deltaIn(doc)).toEqual([])
})

test('[R9] reads a text with only embeds as empty text, and changes nothing when that text is written back', () => {
  const doc = docOf([{ insert: image }])
  expect(replaceText(doc, '').changed).toBe(false)
  expect(deltaIn(doc)).toEqual([{ insert: image }])
})

test('[R9] keeps a shared type that is inside unchanged text', () => {
  const author = authored([{ do: 'insert', at: 0, text: 'one two', attributes: {} }])
  author.getText(key).insertEmbed(4, new Y.Map([['kind', 'mention']]))
  const doc = loaded(author)
  replaceText(doc, 'one deux')
  const [, embed] = loaded(doc).getText(key).toDelta() as { insert: Y.Map<string> }[]
  expect(embed?.insert.get('kind')).toBe('mention')
})

test('[R10] replaces unpaired surrogates in the data with U+FFFD', () => {
  const doc = docWith('ab')
  replaceText(doc, 'a\ud83db\ude00')
  expect(textOf(doc)).toBe('a\ufffdb\ufffd')
})

test('[R10] replaces unpaired surrogates in the document, and keeps the text after them', () => {
  for (const source of ['a\ud800b c', 'a\udc00b c', '\ud800\ud800x', 'x\udc00', 'a\ud83d\nb']) {
    const doc = authored([{ do: 'insert', at: 0, text: source, attributes: {} }])
    replaceText(doc, `${source}!`)
    expect(doc.getText(key).toJSON()).toBe(`${source}!`.toWellFormed())
    expect(textOf(doc)).toBe(`${source}!`.toWellFormed())
  }
})

test('[R10] when the two halves of a surrogate pair are in different items, replaces them by the whole character', () => {
  const doc = authored([
    { do: 'insert', at: 0, text: 'a\ud83d', attributes: {} },
    { do: 'insert', at: 2, text: '\ude00b', attributes: { bold: true } },
  ])
  replaceText(doc, 'a😀b')
  expect(textOf(doc)).toBe('a😀b')
})

test('[R10] replaces surrogate pairs, emoji sequences, flags and letters with marks as a whole', () => {
  expect(marked(docWith('x😀y'), 'x😁y')).toBe('x[😁]y')
  expect(marked(docWith('x👩‍👩‍👧y'), 'x👩‍👩‍👦y')).toBe('x[👩‍👩‍👦]y')
  expect(marked(docWith('x👍🏽y'), 'x👍🏿y')).toBe('x[👍🏿]y')
  expect(marked(docWith('x🇩🇪🇫🇷y'), 'x🇩🇰🇫🇷y')).toBe('x[🇩🇰]🇫🇷y')
  expect(marked(docWith('cafe'), 'cafe\u0301')).toBe('caf[e\u0301]')
  expect(marked(docWith('a\r\nb'), 'a\nb')).toBe('a[\n]b')
  expect(marked(docWith('한국'), '항국')).toBe('[항]국')
})
