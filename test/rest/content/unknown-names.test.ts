import { afterAll, beforeAll, expect, it } from 'vitest'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
let documents = 0

beforeAll(async () => {
  server = await startTestServer({ engine: 'level' })
})

afterAll(() => server.stop())

class Editor {
  readonly #address = {
    organizationId: 'acme',
    documentId: `names-${++documents}`,
    editorId: 'main',
    contentKey: 'default',
  }

  add(data: unknown, more: object = {}) {
    return server.post('/v2/crdt/add', { ...this.#address, type: 'xml', data, ...more })
  }

  update(data: unknown, more: object = {}) {
    return server.post('/v2/crdt/update', { ...this.#address, type: 'xml', data, ...more })
  }

  edit(edit: object, more: object = {}) {
    return server.post('/v2/crdt/edit', { ...this.#address, edits: [edit], ...more })
  }

  async read(): Promise<unknown> {
    return dataOf(await server.post('/v2/crdt/get', { ...this.#address }))
  }
}

type Answer = Awaited<ReturnType<Editor['add']>>

const warningsIn = ({ status, body }: Answer): readonly string[] => {
  expect(status).toBe(200)
  return (body as { result: { warnings?: readonly string[] } }).result.warnings ?? []
}

/** Returns what each warning is about, such as `node "h2"`. */
const namesIn = (answer: Answer): readonly (string | undefined)[] =>
  warningsIn(answer).map((warning) => /(node|mark) ".*?"/.exec(warning)?.[0])

const detailsOf = ({ status, body }: Answer): Record<string, unknown> => {
  expect(status).toBe(400)
  return (body as { error: { details: Record<string, unknown> } }).error.details
}

const insert = (content: string, format = 'xml') => ({ insert: { at: 'end', format, content } })

it('[FMT-91] warns of each name that no preset has when a write adds it', async () => {
  const editor = new Editor()
  expect(namesIn(await editor.add('<h2>a</h2><p>b</p><p>c</p>'))).toEqual(['node "h2"', 'node "p"'])
  expect(namesIn(await editor.edit(insert('<ul><listItem/></ul>')))).toEqual(['node "ul"'])
  expect(namesIn(await editor.update('<paragraph>a</paragraph><ol/>'))).toEqual(['node "ol"'])
  const mark = { mark: { find: 'a', name: 'shout', value: {} } }
  expect(namesIn(await editor.edit(mark, { dryRun: true }))).toEqual(['mark "shout"'])
})

it('[FMT-91] does not warn of the names of editors, of other formats and of other kinds', async () => {
  const editor = new Editor()
  expect(warningsIn(await editor.add('<heading level="1">a</heading><paragraph>b</paragraph>'))).toEqual([])
  expect(warningsIn(await editor.edit(insert('## b\n\n- c **d**', 'markdown')))).toEqual([])
  expect(warningsIn(await editor.edit(insert('<h2>b</h2><p>c <b>d</b></p>', 'html')))).toEqual([])
  expect(warningsIn(await new Editor().add({ h2: 'a' }, { type: 'map' }))).toEqual([])
  const delta = [{ insert: 'a', attributes: { shout: true } }]
  expect(warningsIn(await new Editor().add(delta, { type: 'delta' }))).toEqual([])
})

it('[FMT-91] does not warn of nodes that stay, and of marks that the document had before', async () => {
  const editor = new Editor()
  await editor.add('<callout>one two three</callout><paragraph>a b</paragraph>')
  expect(warningsIn(await editor.update('<callout>one two 3</callout><paragraph>a b</paragraph>'))).toEqual(
    [],
  )
  expect(namesIn(await editor.edit({ mark: { find: 'a b', name: 'shout', value: {} } }))).toEqual([
    'mark "shout"',
  ])
  const replaced = await editor.edit({ mark: { find: 'two', name: 'shout', value: {} } })
  expect(warningsIn(replaced)).toEqual([])
})

it('[FMT-91] returns at most 10 warnings, also for large content that a thread writes', async () => {
  const names = Array.from({ length: 5_000 }, (_, index) => `<x-${index}>some words</x-${index}>`)
  const warnings = namesIn(await new Editor().add(names.join('')))
  expect(warnings).toEqual(Array.from({ length: 10 }, (_, index) => `node "x-${index}"`))
  const long = 'x'.repeat(100_000)
  const [only] = warningsIn(await new Editor().add(`<${long}/>`))
  expect(only?.length).toBeLessThan(1_000)
})

it('[FMT-91] does not warn if a schema is attached', async () => {
  const schema = { nodes: { doc: { content: 'h2*' }, h2: { content: 'text*' }, text: {} } }
  await server.post('/v2/crdt/schemas/set', { name: 'titles', schema })
  const editor = new Editor()
  expect(warningsIn(await editor.add('<h2>a</h2>', { schema: 'titles' }))).toEqual([])
  expect(warningsIn(await editor.update('<h2>a</h2><h2>b</h2>', { strict: true }))).toEqual([])
})

it('[FMT-92] rejects names that no preset has when the call is strict, and changes nothing', async () => {
  const editor = new Editor()
  const rejected = await editor.add('<h2>a</h2>', { strict: true })
  expect(detailsOf(rejected)).toMatchObject({
    code: 'crdt/schema-violation',
    warnings: [expect.stringContaining('node "h2"')],
  })
  await editor.add('<paragraph>a</paragraph>', { strict: true })
  const before = await editor.read()
  const strict = { strict: true }
  const many = '<paragraph>some words</paragraph>'.repeat(5_000)
  for (const answer of [
    await editor.update('<paragraph>a</paragraph><h2>b</h2>', strict),
    await editor.update(`${many}<h2>b</h2>`, strict),
    await editor.edit(insert('<h2>b</h2>'), strict),
    await editor.edit({ mark: { find: 'a', name: 'shout', value: {} } }, strict),
  ])
    expect(detailsOf(answer)).toMatchObject({ code: 'crdt/schema-violation' })
  expect(await editor.read()).toEqual(before)
  expect(warningsIn(await editor.edit(insert('<paragraph>b</paragraph>'), strict))).toEqual([])
})
