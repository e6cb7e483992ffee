import { randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { expect, it } from 'vitest'
import { signatureHeaders, tokenHeaders } from '../../../src/core/outgoing/sign.ts'

const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`
const payload = { event: 'comment.add', data: { text: 'Zoë 😀' } }
const body = Buffer.from(JSON.stringify(payload))

it('[HOOK-101] returns the signature of the Standard Webhooks test vector', () => {
  const headers = signatureHeaders(
    {
      id: 'msg_loFOjxBNrRLzqYUf',
      at: 1_731_705_121_000,
      body: Buffer.from('{"event_type":"ping","data":{"success":true}}'),
    },
    ['whsec_plJ3nmyCDGBKInavdOK15jsl'],
  )
  expect(headers).toEqual({
    'webhook-id': 'msg_loFOjxBNrRLzqYUf',
    'webhook-timestamp': '1731705121',
    'webhook-signature': 'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=',
  })
})

it.each([
  ['standardwebhooks', Webhook],
  ['svix', SvixWebhook],
])(
  '[HOOK-101] makes signatures with which %s verifies the sent bytes, and rejects changed bytes',
  (_name, Library) => {
    const secret = newSecret()
    const headers = signatureHeaders({ id: 'msg_1', at: Date.now(), body }, [secret])
    const receiver = new Library(secret)
    const earlier = String(Number(headers['webhook-timestamp']) - 1)
    expect(receiver.verify(body.toString(), headers)).toEqual(payload)
    expect(() => receiver.verify(`${body.toString()} `, headers)).toThrow('signature')
    expect(() => receiver.verify(body.toString(), { ...headers, 'webhook-id': 'msg_2' })).toThrow('signature')
    expect(() => receiver.verify(body.toString(), { ...headers, 'webhook-timestamp': earlier })).toThrow(
      'signature',
    )
    expect(() => new Library(newSecret()).verify(body.toString(), headers)).toThrow('signature')
  },
)

it('[HOOK-101] makes signatures that standardwebhooks and svix verify, for any secret, id and body', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 24, maxLength: 64 }),
      fc.stringMatching(/^msg_[\w-]{1,40}$/),
      fc.json(),
      (key, id, json) => {
        const secret = `whsec_${Buffer.from(key).toString('base64')}`
        const headers = signatureHeaders({ id, at: Date.now(), body: Buffer.from(json) }, [secret])
        new Webhook(secret).verify(json, headers)
        new SvixWebhook(secret).verify(json, headers)
      },
    ),
  )
})

it('[HOOK-102] makes signatures that verify with either of two secrets, and later only with the remaining secret', () => {
  const [secret, previous] = [newSecret(), newSecret()]
  const message = { id: 'msg_1', at: Date.now(), body }
  const during = signatureHeaders(message, [secret, previous])
  const after = signatureHeaders(message, [secret])
  for (const Library of [Webhook, SvixWebhook]) {
    expect(new Library(secret).verify(body.toString(), during)).toEqual(payload)
    expect(new Library(previous).verify(body.toString(), during)).toEqual(payload)
    expect(new Library(secret).verify(body.toString(), after)).toEqual(payload)
    expect(() => new Library(previous).verify(body.toString(), after)).toThrow('signature')
  }
})

it('[HOOK-103] sends the token of the basic service exactly as it is stored', () => {
  expect(tokenHeaders('dXNlcjpwYXNz')).toEqual({ authorization: 'Basic dXNlcjpwYXNz' })
  expect(tokenHeaders('')).toEqual({})
})
