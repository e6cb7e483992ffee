// Runs without a server: requests in the form of Weft, signed and encrypted, and invalid ones.
import assert from 'node:assert/strict'
import {
  createCipheriv,
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  publicEncrypt,
  randomBytes,
} from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { lineOf } from './line.js'
import { receiver } from './receiver.js'

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
})
const secret = `whsec_${randomBytes(24).toString('base64')}`
const token = 'agreed-on'
const events = []
let isFailing = false
const onEvent = (received) => {
  if (isFailing) throw new Error('the database is not available')
  events.push(received)
}
const server = createServer(receiver({ secret, token, privateKey, onEvent })).listen(0, '127.0.0.1')
await once(server, 'listening')

const event = {
  actionType: 'comment.add',
  timestamp: Date.now(),
  webhookId: 'msg_basic',
  data: {
    actionUser: { userId: 'ada', name: 'Ada' },
    metadata: { organizationId: 'acme' },
    text: 'a\n\u001b[31m',
  },
}

function encrypted(json) {
  const [key, iv] = [randomBytes(32), randomBytes(16)]
  const cipher = createCipheriv('aes-256-cbc', key, iv)
  return JSON.stringify({
    encryptedData: Buffer.concat([cipher.update(json), cipher.final()]).toString('base64'),
    encryptedKey: publicEncrypt({ key: createPublicKey(privateKey), oaepHash: 'sha256' }, key).toString(
      'base64',
    ),
    iv: iv.toString('base64'),
  })
}

const base64 = (json) => Buffer.from(json).toString('base64')
const encoded = (json) => JSON.stringify({ encodedPayload: base64(json) })
const sealed = encrypted(JSON.stringify(event))

async function post(path, body, headers) {
  const url = `http://127.0.0.1:${server.address().port}${path}`
  return (await fetch(url, { method: 'POST', body, headers })).status
}

function signed(id, { at = new Date(), signer = secret, sent = sealed } = {}) {
  const time = String(Math.floor(at.getTime() / 1000))
  const key = Buffer.from(signer.replace('whsec_', ''), 'base64')
  const signature = `v1,${createHmac('sha256', key).update(`${id}.${time}.${sealed}`).digest('base64')}`
  return post('/advanced', sent, {
    'webhook-id': id,
    'webhook-timestamp': time,
    'webhook-signature': signature,
  })
}

const minutesAgo = (count) => new Date(Date.now() - count * 60_000)
const other = `whsec_${randomBytes(24).toString('base64')}`
const basic = { authorization: `Basic ${token}` }

assert.equal(await signed('msg_1'), 200)
assert.deepEqual(events, [{ service: 'advanced', form: 'encrypted', event }])
assert.doesNotMatch(lineOf(events[0]), /[\n\u001b]/)
console.log(`- accepted: ${lineOf(events[0])}`)
assert.equal(await signed('msg_1'), 204)
assert.equal(await signed('msg_2', { signer: other }), 401)
assert.equal(await signed('msg_2', { sent: encrypted('{}') }), 401)
assert.equal(await signed('msg_2', { at: minutesAgo(6) }), 401)
assert.equal(await signed('msg_2', { at: minutesAgo(-6) }), 401)
assert.equal(await post('/advanced', sealed, {}), 401)
assert.equal(events.length, 1)
console.log('- rejected: repeated events, wrong signatures, changed bodies, old timestamps')
isFailing = true
assert.equal(await signed('msg_3'), 500)
isFailing = false
assert.equal(await signed('msg_3'), 200)
console.log('- a failed event is handled when Weft sends it again')
assert.equal(await post('/basic', encoded(JSON.stringify(event)), basic), 200)
assert.equal(await post('/basic', encoded(JSON.stringify(event)), basic), 204)
assert.equal(await post('/basic', JSON.stringify({ ...event, webhookId: 'msg_5' }), basic), 200)
assert.equal(await post('/basic', '{}', { authorization: 'Basic another' }), 401)
assert.equal(await post('/basic', '{}', {}), 401)
assert.equal(await post('/constructor', '{}', basic), 404)
assert.deepEqual(
  events.slice(2).map(({ service, form }) => `${service} ${form}`),
  ['basic encoded', 'basic plain'],
)
console.log('- the basic service: encoded and plain bodies, each event once, only with the correct token')
server.close()
