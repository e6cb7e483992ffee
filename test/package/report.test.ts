import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { compileEntryPointTypes, reportPath } from '../../src/build/package-types.ts'

it('[PKG-20] the committed report of each entry point has its exported types', () => {
  const types = compileEntryPointTypes()
  expect(types.map(({ name }) => name)).toContain('server')
  const outdated = types.filter(
    ({ name, report }) =>
      readFileSync(join(import.meta.dirname, '../..', reportPath(name)), 'utf8') !== report,
  )
  expect(outdated.map(({ name }) => `${reportPath(name)} differs: run npm run docs:tables`)).toEqual([])
})
