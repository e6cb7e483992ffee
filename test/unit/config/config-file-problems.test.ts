import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { readConfig } from '../../../src/core/config/read-config.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-config-file-'))
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 20 }))

const problemOf = (work: () => unknown): { readonly message: string; readonly hint: string | null } => {
  try {
    work()
  } catch (error) {
    return error as { message: string; hint: string | null }
  }
  throw new Error('no problem')
}

it('[CFG-13] if the configuration file is not JSON, reports line and column, and repeats nothing of its text', () => {
  const file = join(root, 'bad.json')
  writeFileSync(file, '{\n  "port": 1,\n  "apiKey": secret\n}\n')
  const { message } = problemOf(() => readConfig({ flags: {}, environment: {}, file }))
  expect(message).toBe(`${file} is not a JSON object: line 3, column 13: expected a value`)
})

it('[CFG-13] reports a missing configuration file, and states the remedy', () => {
  const file = join(root, 'missing.json')
  expect(problemOf(() => readConfig({ flags: {}, environment: {}, file }))).toMatchObject({
    message: `the configuration file ${file} does not exist`,
    hint: 'create it (weft init), or correct --config or WEFT_CONFIG',
  })
})

it.each([
  [{ workspacId: 'w', apiKey: 'k' }, 'it has the unknown member "workspacId" (did you mean workspaceId?)'],
  [
    { workspaceId: 'w', apiKey: 'k' },
    '"workspaceId" must be inside an object with the name of the workspace',
  ],
  [{ Acme: { workspacId: 'w' } }, '"Acme" has the unknown member "workspacId" (did you mean workspaceId?)'],
  [{ Acme: 7 }, '"Acme" must be a JSON object'],
])(
  '[CFG-13] suggests the intended member when a declaration of workspaces is misspelled: %j',
  (declared, problem) => {
    const environment = { WEFT_BOOTSTRAP: JSON.stringify(declared) }
    const { message } = problemOf(() => readConfig({ flags: {}, environment, file: null }))
    expect(message).toContain(problem)
  },
)
