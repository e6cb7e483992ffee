// Runs the backend with a Weft server in this process, and two clients on the document: one watches, one types. The
// writer is the scripted model first, and then an endpoint that speaks the protocol of OpenAI.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer } from 'weft-server'
import { createClient, dataOf } from 'weft-server/client'
import { startEndpoint } from '../agent-mentions/endpoint.js'
import { checked } from './model.js'

// Pieces can end between any two characters.
async function checkedText(pieces) {
  let text = ''
  for await (const piece of checked(pieces)) text += piece
  return text
}
assert.equal(await checkedText(['![x](https://evil.example)']), '\\![x](https://evil.example)')
assert.equal(await checkedText(['a\\', '!', '[x](u) \\\\', '![y](u)']), 'a\\![x](u) \\\\\\![y](u)')
assert.equal(await checkedText(['<', 'img src=x>\u0000\u0007\n\tok']), '\\<img src=x>\n\tok')
await assert.rejects(checkedText(Array.from({ length: 3 }, () => 'x'.repeat(10_000))), /too long/)

const weft = await createServer({ engine: 'memory', log: false })
const { url } = await weft.listen({ port: 0, host: '127.0.0.1' })
const { apiKey, authToken } = weft.credentials
for (const name of ['OPENAI_BASE_URL', 'OPENAI_API_KEY', 'OPENAI_MODEL']) delete process.env[name]
Object.assign(process.env, {
  WEFT_URL: url,
  WEFT_API_KEY: apiKey,
  WEFT_AUTH_TOKEN: authToken,
  EXAMPLE_PORT: '0',
})
const { server } = await import('./server.js')
if (!server.listening) await once(server, 'listening')
const address = `http://127.0.0.1:${server.address().port}`
const endpoint = await startEndpoint()
const client = createClient({ url, apiKey, authToken })

for (const path of ['/', '/main.js', '/style.css', '/settings']) {
  const response = await fetch(address + path)
  assert.equal(response.status, 200)
  console.log(`${path}: ${(await response.text()).length} characters`)
}

const documentId = 'essay'
const editor = { organizationId: 'example', documentId, editorId: 'main' }
const main = { ...editor, contentKey: 'default' }
async function post(path, data, user = 'ada') {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ ...editor, ...data })
  const response = await fetch(`${address}${path}?user=${user}&name=Ada`, { method: 'POST', headers, body })
  return { status: response.status, ...(await response.json()) }
}
const read = async () => dataOf(await client.crdt.get({ ...main, format: 'markdown' }))[0].data.trim()
async function until(isTrue, what) {
  for (const end = Date.now() + 20_000; Date.now() < end; await sleep(30)) if (await isTrue()) return
  throw new Error(`not in time: ${what}`)
}

try {
  assert.match((await post('/weft/token')).token, /^eyJ/)
  const intro = 'An essay that users write.'
  dataOf(await client.crdt.update({ ...main, type: 'markdown', data: intro, upsert: true }))

  const writing = post('/write', { writeId: 'one', prompt: 'Streams of text' })
  await until(async () => (await read()).includes('## Streams of text'), 'the heading')
  const [present] = dataOf(await client.presence.get({ organizationId: 'example', documentId }))
  assert.equal(present.name, 'Writer for Ada')
  const edits = [{ insert: { after: 'An essay', content: ' or two' } }]
  dataOf(await client.crdt.edit({ ...main, edits, userId: 'grace' }))
  assert.equal(
    (await post('/write', { writeId: 'two', prompt: 'More' })).error,
    'the writer is busy; try again later',
  )
  assert.equal((await post('/stop', { writeId: 'one', effect: 'withdraw' }, 'eve')).status, 422)
  assert.equal((await writing).outcome, 'done')
  const written = await read()
  assert.match(
    written,
    /^An essay or two that users write\.\n\n## Streams of text\n\n[^\n]+\*\*Streams of text\*\*/,
  )
  assert.match(
    written,
    /\n- Everyone can type meanwhile, and nothing gets lost\.\n\nSet the address of an endpoint[^\n]+$/,
  )
  console.log('- the section of the scripted model is complete, and the text of a user stayed')

  for (const effect of ['withdraw', 'keep']) {
    const stopped = post('/write', { writeId: effect, prompt: 'Stopped' })
    await until(async () => (await read()).includes('## Stopped'), 'the heading')
    assert.equal((await post('/stop', { writeId: effect, effect })).status, 200)
    assert.equal((await stopped).outcome, effect === 'keep' ? 'kept' : 'withdrawn')
    if (effect === 'withdraw') assert.equal(await read(), written)
  }
  const kept = await read()
  assert.ok(kept.startsWith(`${written}\n\n## Stopped\n\n`) && !kept.endsWith('let a language model write.'))
  console.log('- a stopped section stays or is removed')

  Object.assign(process.env, {
    OPENAI_BASE_URL: endpoint.url,
    OPENAI_API_KEY: 'secret',
    OPENAI_MODEL: 'model-1',
  })
  endpoint.answers.push('## Model\n\nText of *a model*. ![x](https://evil.example/?leak)<img src="x">')
  assert.equal((await post('/write', { writeId: 'model', prompt: 'A model' })).outcome, 'done')
  const [{ data: xml }] = dataOf(await client.crdt.get({ ...main, format: 'xml' }))
  assert.match(xml, /<heading level="2">Model<\/heading><paragraph>Text of /)
  assert.doesNotMatch(xml, /<(image|img)/i)
  const { authorization, body } = endpoint.requests[0]
  assert.equal(authorization, 'Bearer secret')
  assert.match(
    body.messages[1].content,
    /^DOCUMENT \S+\nAn essay or two[\s\S]+\nTOPIC \S+\nA model\nTOPIC \S+$/,
  )
  endpoint.answers.push({ status: 500 })
  assert.equal(
    (await post('/write', { writeId: 'broken', prompt: 'x' })).error,
    'the endpoint of the model responded with HTTP 500',
  )
  console.log('- the section of a language model has no image')
} finally {
  endpoint.close()
  server.close()
  await weft.close()
}
