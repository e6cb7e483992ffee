import { setTimeout as sleep } from 'node:timers/promises'
import { call } from './weft.js'

const uid = 'webhook-receiver-example'
const workspace = (path, data = {}) => call(`/v2/workspace/${path}`, data)
const endpoints = (path, data = {}) => workspace(`advancedwebhook/endpoints/${path}`, data)

/** What somebody else has configured for this API key, and would work no more: sentences. */
export async function conflicts(url, publicKey) {
  const found = []
  const advanced = await workspace('advancedwebhookconfig/get')
  if (advanced.publicKey !== '' && advanced.publicKey !== publicKey)
    found.push('Bodies are encrypted for another public key.')
  if (advanced.isEnabled) {
    const { endpoints: all } = await endpoints('get')
    const others = all.filter((each) => each.uid !== uid && !each.disabled)
    if (others.length > 0 && advanced.publicKey !== publicKey)
      found.push(`${others.length} other endpoints would be sent encrypted bodies.`)
  }
  const basic = await workspace('webhookconfig/get')
  const basicUrl = basic.webhookServiceConfig.rawNotificationUrl
  if (basic.useWebhookService && basicUrl !== `${url}/basic`)
    found.push(`The basic service tells ${basicUrl}.`)
  return found
}

/** Has Weft tell everything to `url`, encrypted at `/advanced`, encoded at `/basic`. Answers the signing secret. */
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

/** Has Weft send a first event. Answers null when it has been taken, else why not, in Weft's words. */
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

/** Has Weft tell us nothing more. */
export async function disable() {
  await endpoints('update', { endpointId: uid, disabled: true })
  await workspace('webhookconfig/update', { useWebhookService: false })
}
