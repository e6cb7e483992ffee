import * as Y from 'yjs'
import type { Random } from '../../../../support/data/random-doc.ts'
import { loaded, key as textKey } from '../../support.ts'
import { docOf, richKey } from '../../xml-support.ts'
import { lexicalKey, slateDoc, slateKey } from '../../xmltext-editors.ts'
import { randomText } from './random-edits.ts'
import { type Attributes, type Block, leavesOf, type Rules } from './text-model.ts'

/** A kind of root with its rules and random documents. */
export interface RootKind {
  readonly name: string
  readonly key: string
  readonly rules: Rules
  /** Names and values of `mark` that the root supports. */
  readonly marks: readonly (readonly [string, unknown])[]
  make(random: Random): Y.Doc
}

const sorted = (attributes: Attributes): Attributes =>
  Object.fromEntries(Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1)))

/** Formatting by one attribute for each name; null removes it. */
const withMark: Rules['marked'] = (marks, name, value) => {
  const { [name]: _, ...others } = marks
  return sorted(value === null ? others : { ...others, [name]: value })
}

const textRules: Rules = {
  kind: 'text',
  keepsOnlyBlock: false,
  levelOf: () => null,
  newBlock: () => ({ name: '', attributes: {} }),
  marked: withMark,
}

function textDoc(random: Random, isMarked: boolean): Y.Doc {
  const author = new Y.Doc()
  author.clientID = 1
  const text = author.getText(textKey)
  for (let lines = 1 + random.below(5); lines > 0; lines--) {
    const attributes = isMarked && random.once(2) ? { bold: true } : {}
    text.insert(text.length, random.once(8) && text.length > 0 ? '' : randomText(random, 6), attributes)
    if (isMarked && random.once(6)) text.insertEmbed(text.length, { image: 'x' }, {})
    if (lines > 1 || random.once(2))
      text.insert(text.length, '\n', isMarked && random.once(3) ? { header: 1 } : {})
  }
  return loaded(author)
}

const xmlRules: Rules = {
  kind: 'xml',
  keepsOnlyBlock: false,
  levelOf: ({ name, attributes }) => (name === 'heading' ? Number(attributes.level) : null),
  newBlock: () => ({ name: 'paragraph', attributes: {} }),
  marked: withMark,
}

function xmlDoc(random: Random): Y.Doc {
  const inline = (): string =>
    Array.from({ length: 1 + random.below(3) }, () => {
      const text = randomText(random, 3)
      return random.pick([text, `<bold>${text}</bold>`, `<italic>${text}</italic>`, `${text}<hardBreak/>`])
    }).join(random.pick([' ', '', ' ']))
  const paragraph = (): string => (random.once(8) ? '<paragraph/>' : `<paragraph>${inline()}</paragraph>`)
  const blocks = Array.from({ length: 1 + random.below(6) }, () =>
    random.pick([
      paragraph,
      paragraph,
      () => `<heading level="${1 + random.below(3)}">${randomText(random, 2)}</heading>`,
      () => `<bulletList><listItem>${paragraph()}</listItem><listItem>${paragraph()}</listItem></bulletList>`,
      () => '<horizontalRule/>',
    ])(),
  )
  return docOf(blocks.join(''), richKey)
}

const idNames = ['id']

/** Returns the most frequent type of the ordinary paragraphs. */
function paragraphType(root: Block, rules: Rules): string | null {
  const counts = new Map<string, number>()
  for (const leaf of leavesOf(root))
    if (rules.levelOf(leaf) === null) counts.set(leaf.name, (counts.get(leaf.name) ?? 0) + 1)
  const [most] = [...counts].sort(([, a], [, b]) => b - a)
  return most?.[0] ?? null
}

const withoutIds = (attributes: Attributes): Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([name]) => !idNames.includes(name)))

const slateRules: Rules = {
  kind: 'xmltext',
  keepsOnlyBlock: false,
  levelOf: ({ name }) => (name === 'heading-one' ? 1 : name === 'heading-two' ? 2 : null),
  newBlock: (root, near) => {
    if (near !== null && slateRules.levelOf(near) === null)
      return { name: near.name, attributes: withoutIds(near.attributes) }
    const type = paragraphType(root, slateRules) ?? 'paragraph'
    return { name: type, attributes: { type } }
  },
  marked: withMark,
}

function slateRoot(random: Random): Y.Doc {
  const leaf = (): object => ({ text: randomText(random, 3), ...(random.once(3) && { bold: true }) })
  const inline = (): object[] => {
    const link = { type: 'link', url: 'x', children: [{ text: randomText(random, 2) }] }
    return random.once(4) ? [{ text: 'see ' }, link, { text: ' now' }] : [leaf(), { text: ' ' }, leaf()]
  }
  const paragraph = (type = 'paragraph'): object => ({
    type,
    ...(random.once(3) && { id: `id${random.below(1_000_000)}` }),
    children: random.once(8) ? [{ text: '' }] : inline(),
  })
  const blocks = Array.from({ length: 1 + random.below(6) }, () =>
    random.pick([
      paragraph,
      paragraph,
      () => ({
        type: random.pick(['heading-one', 'heading-two']),
        children: [{ text: randomText(random, 2) }],
      }),
      () => ({ type: 'list', children: [paragraph('item'), paragraph('item')] }),
    ])(),
  )
  return slateDoc(blocks as Parameters<typeof slateDoc>[0])
}

const lexicalParagraph = {
  __type: 'paragraph',
  __format: 0,
  __style: '',
  __indent: 0,
  __dir: null,
  __textFormat: 0,
  __textStyle: '',
} as const

const bits: Readonly<Record<string, number>> = { bold: 1, italic: 2 }

const lexicalRules: Rules = {
  kind: 'xmltext',
  keepsOnlyBlock: true,
  levelOf: ({ name, attributes }) => (name === 'heading' ? Number(String(attributes.__tag).slice(1)) : null),
  newBlock: (_root, near) =>
    near !== null && lexicalRules.levelOf(near) === null
      ? { name: near.name, attributes: withoutIds(near.attributes) }
      : { name: 'paragraph', attributes: lexicalParagraph },
  marked: (marks, name, value) => {
    const [format, bit] = [Number(marks.format ?? 0), bits[name] as number]
    return { ...marks, format: value === null ? format & ~bit : format | bit }
  },
}

function lexicalRoot(random: Random): Y.Doc {
  const author = new Y.Doc()
  author.clientID = 1
  const root = author.get(lexicalKey, Y.XmlText)
  const map = (entries: object): object => ({ insert: new Y.Map(Object.entries(entries)) })
  const filled = (attributes: object, delta: object[]): Y.XmlText => {
    const text = new Y.XmlText()
    for (const [name, value] of Object.entries(attributes)) text.setAttribute(name, value)
    if (delta.length > 0) text.applyDelta(delta)
    return text
  }
  const node = (text: string): object[] => [
    map({ __type: 'text', __format: random.below(4), __style: '', __mode: 0, __detail: 0 }),
    { insert: text },
  ]
  const inline = (): object[] =>
    random.once(8)
      ? []
      : [
          ...node(`${randomText(random, 3)} `),
          ...node(randomText(random, 3)),
          ...(random.once(3) ? [map({ __type: 'linebreak' }), ...node(randomText(random, 2))] : []),
        ]
  const blocks = Array.from({ length: 1 + random.below(6) }, () => {
    const way = random.below(5)
    if (way === 0)
      return filled(
        { ...lexicalParagraph, __type: 'heading', __tag: `h${1 + random.below(3)}` },
        node(randomText(random, 2)),
      )
    if (way === 1) {
      const item = (): object => ({
        insert: filled({ __type: 'listitem', __format: 0, __indent: 0 }, inline()),
      })
      return filled({ __type: 'list', __listType: 'bullet', __tag: 'ul' }, [item(), item()])
    }
    return filled(lexicalParagraph, inline())
  })
  root.applyDelta(blocks.map((insert) => ({ insert })))
  return loaded(author)
}

const richMarks = [
  ['bold', {}],
  ['bold', null],
  ['italic', {}],
] as const
const flagMarks = [
  ['bold', true],
  ['bold', null],
  ['italic', true],
] as const

/** The kinds of roots with text. */
export const textRoots: readonly RootKind[] = [
  {
    name: 'text',
    key: textKey,
    rules: textRules,
    marks: flagMarks,
    make: (random) => textDoc(random, false),
  },
  {
    name: 'text with marks',
    key: textKey,
    rules: textRules,
    marks: flagMarks,
    make: (random) => textDoc(random, true),
  },
  { name: 'XML', key: richKey, rules: xmlRules, marks: richMarks, make: xmlDoc },
  { name: 'Slate', key: slateKey, rules: slateRules, marks: flagMarks, make: slateRoot },
  { name: 'Lexical', key: lexicalKey, rules: lexicalRules, marks: flagMarks, make: lexicalRoot },
]
