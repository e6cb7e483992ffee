import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { renderMarkdown } from '../../src/config/render.ts'
import { optionKeys } from '../../src/config.ts'
import { limitNames } from '../../src/quota/limits.ts'

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

it('[LIM-13] the README’s table of limits names every limit, and every option that sets one', () => {
  const [, section = ''] = /\n## Limits\n([\s\S]*?)\n## /.exec(readme) ?? []
  const rows = [...section.matchAll(/^\| [^|]+ \| ([^|]+) \| [^|]+ \|$/gm)].map(([, named = '']) => named)
  const named = rows.flatMap((row) => [...row.matchAll(/`(\w+)`/g)].map(([, name = '']) => name))
  const quotas = optionKeys.filter((key) =>
    /^max|Per(Second|Minute|Address|Workspace)|Burst|Timeout/.test(key),
  )
  expect([...new Set(named)].sort()).toEqual([...new Set([...limitNames, ...quotas])].sort())
  for (const row of rows.slice(1).filter((each) => !each.includes('fixed')))
    for (const [, name = ''] of row.matchAll(/`(\w+)`/g)) expect(optionKeys).toContain(name)
})
