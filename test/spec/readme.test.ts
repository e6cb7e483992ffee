import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { renderMarkdown } from '../../src/config/render.ts'

const root = join(import.meta.dirname, '..', '..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')

it('[CFG-8] the README’s table of options is the one made from the table in the code', () => {
  const [, shown] = /<!-- options -->\n([\s\S]*?)\n?<!-- \/options -->/.exec(readme) ?? []
  expect(shown?.trim()).toBe(renderMarkdown())
})

it('[SEC-10] the rules that the README’s section on security names are there', () => {
  const [, section = ''] = /^## Security\n([\s\S]*?)^## /m.exec(readme) ?? []
  const named = [...section.matchAll(/\b[A-Z]{3,5}-\d+\b/g)].map(([id]) => id)
  const spec = readFileSync(join(root, 'test', 'SPEC.md'), 'utf8')
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter((id) => !spec.includes(`- **${id}**`))).toEqual([])
})
