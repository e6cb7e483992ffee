import { setTimeout as sleep } from 'node:timers/promises'
import { call } from './weft.js'

const uid = 'webhook-receiver-example'
const workspace = (path, data = {}) => call(`/v2/workspace/${path}`, data)
const endpoints = (path, data = {}) => workspace(`advancedwebhook/endpoints/${path}`, data)

/** Returns a sentence for each existing setting of this API key that the example would break. */
export async function conflicts(url, publicKey) {
  const found = []
  const advanced = await workspace('advancedwebhookconfig/get')
  if (advanced.publicKey !== '' && advanced.publicKey !== publicKey)
    found.push('Bodies are encrypted for another public key.')
  if (advanced.isEnabled) {
    const { endpoints: all } = await endpoints('get')
    const others = all.filter((each) => each.uid !== uid && !each.disabled)
    if (others.length > 0 && advanced.publicKey !== publicKey)
      found.push(`${others.length} other endpoints would get encrypted bodies.`)
  }
  const basic = await workspace('webhookconfig/get')
  const basicUrl = basic.webhookServiceConfig.rawNotificationUrl
  if (basic.useWebhookService && basicUrl !== `${url}/basic`)
    found.push(`The basic service sends to ${basicUrl}.`)
  return found
}

/**
 * Makes Weft send all events to `url`: encrypted at `/advanced`, encoded at `/basic`. Returns the signing
 * secret.
 */
export async function configure(url, { publicKey, token }) {
  await workspace('advancedwebhookconfig/update', { isEnabled: true, encryptData: true, publicKey })
  const endpoint = { url: `${url}/advanced`, description: 'examples/webhook-receiver', disabled: false }
  await endpoints('create', { ...endpoint, uid }).catch((error) => {
    if (error.status !== 'ALREADY_EXISTS') throw error
    return endpoints('update', { endpointId: uid, ...endpoint })
  })
  const triggers = { crdt: true, 'document.create': true, 'document.delete': true }
  await workspace('webhookconfig/update', {
    useWebhookService: true,
    webhookServiceConfig: {
      authToken: token,
      rawNotificationUrl: `${url}/basic`,
      encodeData: true,
      encryptData: false,
      triggers,
    },
  })
  return (await endpoints('secret/get', { endpointId: uid })).secret
}

/** Makes Weft send a test event. Returns null after a success, else the error of Weft. */
export async function tryOut() {
  const { messageId } = await endpoints('test', { endpointId: uid })
  for (let tries = 0; tries < 100; tries++) {
    const { deliveries } = await workspace('advancedwebhook/deliveries/get', { endpointId: uid })
    const sent = deliveries.find((each) => each.messageId === messageId)
    if (sent?.status === 'success') return null
    if (sent?.attempts.length > 0) return sent.attempts.at(-1).error
    await sleep(100)
  }
  return 'nothing was sent within 10 s'
}

/** Stops all webhooks to this receiver. */
export async function disable() {
  await endpoints('update', { endpointId: uid, disabled: true })
  await workspace('webhookconfig/update', { useWebhookService: false })
}
