import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { schemasMax } from '../../src/core/directory/schemas/schema-service.ts'
import { runCli } from '../support/servers/cli.ts'
import { dataOf } from '../support/servers/server.ts'
import { otherKey } from '../support/servers/tenants.ts'
import { startOn } from './sample-store.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-export-schemas-'))
const at = (name: string): string => join(root, name)
const weft = (...args: string[]) => runCli(args, root)

afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 20 }))

const schemaOf = (line: string): object => ({
  nodes: { doc: { content: `${line}*` }, [line]: { content: 'text*' }, text: {} },
  contentKey: 'lines',
})

const address = { organizationId: 'acme', documentId: 'poem', editorId: 'main' }

it('[FMT-160] exports the schemas of the API keys that have the organization, and imports them with its documents', async () => {
  const server = await startOn(at('data'))
  dataOf(await server.post('/v2/crdt/schemas/set', { name: 'poem', schema: schemaOf('verse') }))
  const content = { type: 'xml', data: '<verse>a</verse>' }
  dataOf(await server.post('/v2/crdt/add', { ...address, ...content, schema: 'poem' }))
  const { headers } = await otherKey(server)
  dataOf(await server.post('/v2/crdt/schemas/set', { name: 'play', schema: schemaOf('scene') }, headers))
  const others = { ...address, organizationId: 'solo', type: 'xml', data: '<scene>a</scene>', schema: 'play' }
  dataOf(await server.post('/v2/crdt/add', others, headers))
  await server.stop()

  const exported = await weft(
    'export',
    at('one'),
    '--data-dir',
    at('data'),
    '--organization',
    'acme',
    '--secrets',
  )
  expect(exported.code).toBe(0)
  const records = readFileSync(join(at('one'), 'admin.jsonl'), 'utf8')
  expect([records.includes('verse'), records.includes('scene')]).toEqual([true, false])

  expect((await weft('import', 'weft', at('one'), '--data-dir', at('moved'))).code).toBe(0)
  const moved = await startOn(at('moved'))
  const broken = await moved.post('/v2/crdt/update', { ...address, type: 'xml', data: '<scene>a</scene>' })
  expect([broken.status, JSON.stringify(broken.body)]).toEqual([
    400,
    expect.stringContaining('schema-violation'),
  ])
  expect(
    (await moved.post('/v2/crdt/update', { ...address, type: 'xml', data: '<verse>b</verse>' })).status,
  ).toBe(200)
  // The import has counted the schemas: the API key can have this number of others.
  for (let index = 1; index < schemasMax; index += 1)
    dataOf(await moved.post('/v2/crdt/schemas/set', { name: `more-${index}`, schema: schemaOf('verse') }))
  const further = await moved.post('/v2/crdt/schemas/set', { name: 'further', schema: schemaOf('verse') })
  expect(JSON.stringify(further.body)).toContain('schema/too-many')
  await moved.stop()
})
