import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const source = join(import.meta.dirname, '../../../src')
const read = (path: string): string => readFileSync(join(source, path), 'utf8')
const found = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, name = '']) => name)

it('[CON-91] no sheet of the console that the playground loads has a rule for a class alone that is a state in the playground', () => {
  const sheets = found(read('console/styles/style.css'), /@import "\.\/([^"]+)"/g)
  const alone = sheets.flatMap((name) =>
    found(read(`console/styles/${name}`), /(?:^|,)\s*\.([\w-]+)\s*[,{]/gm),
  )
  const states = found(read('console/playground/playground.css'), /\.[\w-]+\.([\w-]+)/g)
  expect(alone.length).toBeGreaterThan(20)
  expect(states).toEqual(['saved', 'away'])
  expect(states.filter((name) => alone.includes(name))).toEqual([])
})
