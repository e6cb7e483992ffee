import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { apiFiles } from '../../src/build/package-api/api-files.ts'
import { nameOperations } from '../../src/build/package-api/operation-names.ts'
import { operationList } from '../../src/capabilities/list.ts'
import { createApi } from '../../src/client/api/create-api.ts'
import { operations } from '../../src/client/api/operations.ts'

const root = join(import.meta.dirname, '../..')

describe('operations as methods', () => {
  it('[PCLI-1] the generated files are current', () => {
    const outdated = Object.entries(apiFiles()).filter(
      ([path, text]) => readFileSync(join(root, path), 'utf8') !== text,
    )
    expect(outdated.map(([path]) => path)).toEqual([])
  })

  it('[PCLI-1] [PCLI-2] calls each operation at its path', async () => {
    const called: string[] = []
    const api = createApi(async ({ path }) => {
      called.push(path)
      return { ok: true, data: null, message: '' }
    })
    for (const name of Object.keys(operations)) await methodAt(api, name)({})
    expect(called.toSorted()).toEqual(operationList.map(({ path }) => path).toSorted())
    await api.auth.generateToken({ userId: 'ann', userProperties: { name: 'Ann', email: '' } })
    await api.organizations.folders.add({ organizationId: 'acme', folders: [] })
    await api.organizations.documents.get({ organizationId: 'acme' })
    await api.v1.organizations.documents.get({ organizationId: 'acme' })
    expect(called.slice(-4)).toEqual([
      '/v2/auth/generate_token',
      '/v1/organizations/folders/add',
      '/v2/organizations/documents/get',
      '/v1/organizations/documents/get',
    ])
  })

  it('[PCLI-3] rejects two operations with one name, and an operation that contains another one', () => {
    const at = (path: `/v${1 | 2}/${string}`) => ({ ...operationList[0]!, path })
    expect(() => nameOperations([at('/v2/notes/get'), at('/v2/notes/get/all')])).toThrow('/v2/notes/get/all')
    expect(() => nameOperations([at('/v2/notes/get_all'), at('/v2/notes/getAll')])).toThrow('different names')
    expect(nameOperations([at('/v1/notes/get'), at('/v2/notes/get')]).map(({ parts }) => parts)).toEqual([
      ['notes', 'get'],
      ['v1', 'notes', 'get'],
    ])
  })

  it('[PCLI-4] imports nothing from outside of its folder', () => {
    const folder = join(root, 'src/client/api')
    const imports = readdirSync(folder).flatMap((name) =>
      [...readFileSync(join(folder, name), 'utf8').matchAll(/from '([^']+)'/g)].map(([, target]) => target),
    )
    expect(imports.length).toBeGreaterThan(5)
    expect(imports.filter((target) => !target?.startsWith('./'))).toEqual([])
  })
})

type Method = (data: object) => Promise<unknown>

/** Returns the method with a dotted name. */
function methodAt(api: object, name: string): Method {
  let found: unknown = api
  for (const part of name.split('.')) found = (found as Readonly<Record<string, unknown>>)[part]
  return found as Method
}
