import { replaceContent } from '../../../src/core/content/replace.ts'
import { type Random, seededRandom } from '../random.ts'
import { contentKey, type HeavyCase, loaded } from './case.ts'

interface XmlRewrite {
  readonly name: string
  readonly before: string
  readonly after: string
  readonly keeps?: number
}

/** Returns cases that rewrite XML documents with about `nodes` elements and texts. */
export function xmlCases(nodes: number): HeavyCase[] {
  const rewrites = [
    ...ofTexts(nodes),
    ...ofOrder(nodes),
    ...ofElements(nodes),
    ...ofShapes(nodes),
    ...ofMarks(nodes),
  ]
  return rewrites.map(({ before, after, ...rest }) => ({
    type: 'xml',
    before: () => loaded((author) => replaceContent(author, { type: 'xml', contentKey, data: before })),
    data: after,
    ...rest,
  }))
}

const words = 'the update of shared documents merges and a peer stores history'.split(' ')
const word = (random: Random): string => words[random(words.length)] as string

/** Returns the texts of paragraphs. A paragraph has two nodes, so there are half as many texts as `nodes`. */
function textsOf(nodes: number): string[] {
  const random = seededRandom(5)
  return Array.from({ length: nodes / 2 }, (_, n) =>
    [`p${n}`, ...Array.from({ length: 12 }, () => word(random))].join(' '),
  )
}

const wrap = (all: readonly string[]): string => `<doc>${all.map((text) => `<p>${text}</p>`).join('')}</doc>`

function ofTexts(nodes: number): XmlRewrite[] {
  const texts = textsOf(nodes)
  const before = wrap(texts)
  return [
    { name: 'a word changed in each', before, after: wrap(texts.map((text) => text.replace(' ', ' new '))) },
    { name: 'every word changed', before, after: wrap(texts.map((text) => text.replace(/\b\w/g, 'z$&'))) },
    { name: 'all different', before, after: wrap(texts.map((_, n) => `${n * 7} x${n} y${n * 3} z`)) },
    { name: 'one in front, all changed', before, after: wrap(['first', ...texts.map((text) => `${text}!`)]) },
    {
      name: 'every second one changed',
      before,
      after: wrap(texts.map((text, n) => (n % 2 ? text : `${text} x`))),
    },
  ]
}

function ofOrder(nodes: number): XmlRewrite[] {
  const texts = textsOf(nodes)
  const before = wrap(texts)
  const shuffled = texts.toSorted((a, b) => (a.slice(4, 40) < b.slice(4, 40) ? -1 : 1))
  const ids = texts.map((text, n) => `<p id="${n}">${text}</p>`)
  const doc = (all: readonly string[]): string => `<doc>${all.join('')}</doc>`
  return [
    { name: 'the other way round', before, after: wrap(texts.toReversed()) },
    { name: 'shuffled', before, after: wrap(shuffled) },
    { name: 'with ids, shuffled', before: doc(ids), after: doc(ids.toSorted()) },
    { name: 'one rotated', before, after: wrap([...texts.slice(1), ...texts.slice(0, 1)]), keeps: 1 },
    {
      name: 'halves exchanged',
      before,
      after: wrap([...texts.slice(nodes / 4), ...texts.slice(0, nodes / 4)]),
      keeps: 0.5,
    },
    { name: 'every second one gone', before, after: wrap(texts.filter((_, n) => n % 2 === 0)), keeps: 0.5 },
    { name: 'each one twice', before, after: wrap(texts.flatMap((text) => [text, text])), keeps: 1 },
    {
      name: 'equal ones, every second changed',
      before: wrap(texts.map(() => 'the same')),
      after: wrap(texts.map((_, n) => (n % 2 ? 'the same' : 'another one'))),
    },
  ]
}

function ofElements(nodes: number): XmlRewrite[] {
  const before = wrap(textsOf(nodes))
  const empty = (name: string): string => `<${name}/>`.repeat(nodes)
  return [
    { name: 'other element names', before, after: before.replaceAll('p>', 'q>'), keeps: 0 },
    { name: 'each wrapped', before, after: before.replace(/<p>.*?<\/p>/g, '<li>$&</li>'), keeps: 0 },
    {
      name: 'attributes on each',
      before,
      after: before.replaceAll('<p>', '<p class="x" align="left">'),
      keeps: 1,
    },
    { name: 'empty elements renamed', before: empty('a'), after: empty('b'), keeps: 0 },
    { name: 'emptied', before, after: '', keeps: 0 },
    { name: 'filled', before: '', after: before },
  ]
}

function ofShapes(nodes: number): XmlRewrite[] {
  const chain = (name: string, leaf: string, depth: number): string =>
    `<${name}>`.repeat(depth) + leaf + `</${name}>`.repeat(depth)
  const chains = (leaf: string, name = 'div'): string =>
    Array.from({ length: nodes / 100 }, (_, n) => chain(name, `${leaf} ${n}`, 98)).join('')
  const table = (cell: (n: number) => string): string => {
    const rows = Array.from({ length: nodes / 42 }, (_, row) =>
      Array.from({ length: 20 }, (_column, column) => `<td>${cell(row * 20 + column)}</td>`).join(''),
    )
    return `<table>${rows.map((cells) => `<tr>${cells}</tr>`).join('')}</table>`
  }
  return [
    { name: 'deep, leaves changed', before: chains('one'), after: chains('two') },
    { name: 'deep, renamed', before: chains('one'), after: chains('one', 'b') },
    {
      name: 'table, numbers changed',
      before: table((n) => `${n}`),
      after: table((n) => `${(n * 7_919) % 9_973}`),
    },
    {
      name: 'table, transposed',
      before: table((n) => `c${n}`),
      after: table((n) => `c${(n % 20) * 1_000 + n}`),
    },
    {
      name: 'one long text, every word changed',
      before: `<p>${textsOf(nodes).join(' ')}</p>`,
      after: `<p>${textsOf(nodes).join(' ').replace(/\b\w/g, 'z$&')}</p>`,
    },
  ]
}

function ofMarks(nodes: number): XmlRewrite[] {
  const before = wrap(textsOf(nodes))
  const bold = before.replace(/<p>(.*?)<\/p>/g, '<p><bold>$1</bold></p>')
  const marked = (name: string): string =>
    wrap(textsOf(nodes / 4).map((text) => text.replace(/\w+ (\w+)/g, `<${name}>$1</${name}> x`)))
  return [
    { name: 'all bold', before, after: bold },
    { name: 'no longer bold', before: bold, after: before },
    { name: 'many marks, all others', before: marked('em'), after: marked('strong') },
  ]
}
