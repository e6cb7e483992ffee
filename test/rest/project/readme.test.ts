import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { optionKeys } from '../../../src/core/config/config.ts'
import { renderMarkdown } from '../../../src/core/config/render-config.ts'
import { limitNames } from '../../../src/core/quota/limits.ts'
import { chapters } from '../../../src/docs/chapters.ts'
import { anchorOf } from '../../../src/docs/layout.ts'

const root = join(import.meta.dirname, '../../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const chapter = (name: string): string => read(`src/docs/${name}.md`)
const readme = read('README.md')
const spec = readdirSync(join(root, 'test/spec'))
  .map((name) => read(`test/spec/${name}`))
  .join('\n')

const rulesIn = (text: string): string[] => [...text.matchAll(/\b[A-Z]{2,5}-\d+\b/g)].map(([id]) => id)
const unknown = (rules: readonly string[]): string[] => rules.filter((id) => !spec.includes(`- **${id}**`))

it('[GUIDE-3] the chapter on configuration contains the generated table of options', () => {
  const [, shown] = /<!-- options -->\n([\s\S]*?)\n?<!-- \/options -->/.exec(chapter('configuration')) ?? []
  expect(shown?.trim()).toBe(renderMarkdown())
})

it('[GUIDE-8] cites only existing rules in the chapter on security', () => {
  const named = rulesIn(chapter('security'))
  expect(named.length).toBeGreaterThan(20)
  expect(unknown(named)).toEqual([])
})

it('[LIM-13] lists every limit, and every option that sets a limit, in the table of limits', () => {
  const [, table = ''] = chapter('limits').split(/<!-- \/?limits -->/)
  const rows = [...table.matchAll(/^\| (`[^|]+) \|(.*)\|$/gm)]
  const namesOf = (row: string): string[] => [...row.matchAll(/`(\w+)`/g)].map(([, name = '']) => name)
  const named = rows.flatMap(([, limit = '']) => namesOf(limit))
  const quotas = optionKeys.filter((key) => /^max|Per(Minute|Address|Workspace|Key)|Timeout/.test(key))
  expect([...new Set(named)].sort()).toEqual([...new Set([...limitNames, ...quotas])].sort())
  for (const [, limit = '', rest = ''] of rows)
    if (!rest.includes('(fixed)')) for (const name of namesOf(limit)) expect(optionKeys).toContain(name)
  expect(rows.find(([, limit]) => limit === '`maxStoredBytesPerWorkspace`')?.[2]).toContain('| unlimited |')
})

const linksOf = (text: string): string[] =>
  [...text.replaceAll(/^ *```[\s\S]*?^ *```/gm, '').matchAll(/(?<!!)\[[^\]]*\]\(([^)\s]+)\)/g)].map(
    ([, to = '']) => to,
  )
const headingsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => anchorOf(title))

it('[GUIDE-2] the README links to every chapter, and has no broken link', () => {
  const links = linksOf(readme).filter((to) => !/^https?:/.test(to))
  for (const { name } of chapters) expect(links).toContain(`src/docs/${name}.md`)
  for (const link of links) {
    const [path = '', anchor] = link.split('#')
    expect({ link, isThere: path === '' || existsSync(resolve(root, path)) }).toEqual({ link, isThere: true })
    if (anchor !== undefined) expect(headingsOf(path === '' ? readme : read(path))).toContain(anchor)
  }
})

it('[GUIDE-8] cites only existing rules in the chapter on guarantees', () => {
  const named = rulesIn(chapter('guarantees'))
  expect(named.length).toBeGreaterThan(20)
  expect(unknown(named)).toEqual([])
})

it('[GUIDE-9] lists the same clients, versions and URLs in the README and in the chapter on editors', () => {
  const clientsIn = (text: string): string[] => {
    const [, table = ''] = /^\| client, tested versions .*\n\|[-|]+\n((?:\|.*\n)+)/m.exec(text) ?? []
    return table.split('\n').map((row) => row.split(' | ').slice(0, 2).join(' | ').replace(/ \|$/, ''))
  }
  const shown = clientsIn(readme)
  expect(shown.length).toBeGreaterThan(2)
  expect(shown).toEqual(clientsIn(chapter('editors')))
})

/** The text below a heading of the README, up to the next one. */
const sectionOf = (heading: string): string => readme.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
/** The lines with text of the samples in a language. */
function linesIn(text: string, language: string): string[] {
  const samples = text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))
  return [...samples].flatMap(([, sample = '']) => sample.split('\n').filter((line) => line !== ''))
}

it('[GUIDE-15] the README has its sections in order, with a quick start of two commands and short samples', () => {
  const headings = [...readme.matchAll(/^## (.*)$/gm)].map(([, title]) => title)
  expect(headings).toEqual([
    'Quick start',
    'Connect an editor',
    'Write from a backend',
    'Results',
    'Documentation',
    'Contributing, security, license',
  ])
  expect(linesIn(sectionOf('Quick start'), 'sh')).toEqual(['npm ci && npm start'])
  const editor = linesIn(sectionOf('Connect an editor'), 'js')
  expect(editor).toContainEqual(expect.stringContaining('new WebsocketProvider('))
  expect(editor.length).toBeLessThanOrEqual(10)
  const backend = linesIn(sectionOf('Write from a backend'), 'sh')
  expect(backend[0]).toContain('/v2/crdt/update')
  expect(backend.length).toBeLessThanOrEqual(5)
  expect(readme.match(/\]\(\.github\/CONTRIBUTING\.md/g)).toHaveLength(1)
})

it('[GUIDE-27] the first command of the README is the quick start, which needs only a clone', () => {
  const [first] = linesIn(readme, 'sh')
  expect(first).toBe('npm ci && npm start')
  expect(sectionOf('Quick start')).toContain('a clone of this repository')
})

it('[GUIDE-27] before the package has a public repository, each page that takes it from npm says first that it is not there', () => {
  const isPublished = 'repository' in (JSON.parse(read('package.json')) as object)
  const pages = { README: readme, ...Object.fromEntries(chapters.map(({ name }) => [name, chapter(name)])) }
  const taking = Object.entries(pages).filter(([, text]) =>
    /^(npx weft-server|npm install (weft-server|@weft\/\w+))\b/m.test(text),
  )
  expect(taking.map(([name]) => name).sort()).toEqual(['client', 'library'])
  for (const [name, text] of [...taking, ['README', readme] as const])
    expect({ name, isToCome: text.includes('is not on npm yet') }).toEqual({ name, isToCome: !isPublished })
})

/** The rows of a table without its links, the header first. */
const tableIn = (text: string): string[][] =>
  [...text.matchAll(/^\|(.*)\|$/gm)]
    .map(([, row = '']) => row.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').split('|'))
    .map((cells) => cells.map((cell) => cell.trim()))
    .filter(([first]) => !first?.startsWith('---'))

it('[GUIDE-15] the README has only figures of the benchmarks, and no numbers of rules', () => {
  expect(rulesIn(readme)).toEqual([])
  expect(linksOf(readme)).toContain('bench/README.md')
  const [, ...rows] = tableIn(sectionOf('Results'))
  const figures = rows.flatMap(([, ...cells]) =>
    cells.map((cell) => /^[\d.,]+(?: %)?/.exec(cell)?.[0] ?? cell),
  )
  expect(figures.length).toBeGreaterThan(4)
  expect(figures.filter((figure) => !read('bench/README.md').includes(figure))).toEqual([])
  expect(readme.replace(sectionOf('Results'), '')).not.toMatch(/\d (µs|ms|MB)\b|per second/)
})
