import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { verifyWebhook, WebhookRejectedError } from '../../src/client/rest/index.ts'
import { signatureHeaders } from '../../src/core/outgoing/sign.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
const event = { event: 'document.create', data: { documentId: 'plän' }, webhookId: 'msg_1' }
const body = JSON.stringify(event)
const signed = (text: string, secrets = [secret], at = Date.now()) =>
  signatureHeaders({ id: 'msg_1', at, body: Buffer.from(text) }, secrets)

describe('verification of webhooks', () => {
  it('[PCLI-18] accepts requests that Weft or the reference implementation signs, as text and as bytes', async () => {
    expect(await verifyWebhook(body, signed(body), secret)).toEqual(event)
    expect(await verifyWebhook(Buffer.from(body), new Headers(signed(body)), secret)).toEqual(event)
    const at = new Date()
    const reference = {
      'webhook-id': 'msg_2',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign('msg_2', at, body),
    }
    expect(await verifyWebhook(body, reference, secret)).toEqual(event)
  })

  it('[PCLI-18] accepts the old and the new secret while a secret is replaced', async () => {
    const both = signed(body, [other, secret])
    expect(await verifyWebhook(body, both, secret)).toEqual(event)
    expect(await verifyWebhook(body, both, other)).toEqual(event)
    expect(await verifyWebhook(body, signed(body), [other, secret])).toEqual(event)
  })

  it('[PCLI-18] decodes a body in encodedPayload', async () => {
    const encoded = JSON.stringify({ encodedPayload: Buffer.from(body).toString('base64') })
    expect(await verifyWebhook(encoded, signed(encoded), secret)).toEqual(event)
  })

  it.each([
    ['another body', `${body} `, signed(body)],
    ['another secret', body, signed(body, [other])],
    ['another id', body, { ...signed(body), 'webhook-id': 'msg_2' }],
    ['a request that is too old', body, signed(body, [secret], Date.now() - 301_000)],
    ['a request of the future', body, signed(body, [secret], Date.now() + 302_000)],
    ['no time', body, { ...signed(body), 'webhook-timestamp': 'now' }],
    ['no signature', body, { ...signed(body), 'webhook-signature': undefined }],
    ['another kind of signature', body, { ...signed(body), 'webhook-signature': 'v1a,AAAA' }],
    ['a signature that is not base64', body, { ...signed(body), 'webhook-signature': 'v1,%' }],
    ['a body that is not JSON', 'text', signed('text')],
    [
      'the valid signature after many others',
      body,
      {
        ...signed(body),
        'webhook-signature': `${'v1,AAAA '.repeat(10)}${signed(body)['webhook-signature']}`,
      },
    ],
  ])('[PCLI-19] rejects %s', async (_, text, headers) => {
    await expect(verifyWebhook(text, headers, secret)).rejects.toBeInstanceOf(WebhookRejectedError)
  })

  it('[PCLI-19] accepts an older request with a longer tolerance, and rejects an invalid secret', async () => {
    const old = signed(body, [secret], Date.now() - 301_000)
    expect(await verifyWebhook(body, old, secret, { toleranceSeconds: 600 })).toEqual(event)
    for (const invalid of ['', 'secret', 'whsec_', 'whsec_%'])
      await expect(verifyWebhook(body, signed(body), invalid)).rejects.toBeInstanceOf(TypeError)
  })
})
