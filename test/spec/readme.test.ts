import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { renderMarkdown } from '../../src/config/render.ts'

const readme = readFileSync(join(import.meta.dirname, '..', '..', 'README.md'), 'utf8')

it('[CFG-8] the README’s table of options is the one made from the table in the code', () => {
  const [, shown] = /<!-- options -->\n([\s\S]*?)\n?<!-- \/options -->/.exec(readme) ?? []
  expect(shown?.trim()).toBe(renderMarkdown())
})
