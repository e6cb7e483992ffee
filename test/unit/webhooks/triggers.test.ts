import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { BasicConfigPatch } from '../../../src/capabilities/webhooks/webhook-config-service.ts'
import { tenant } from '../../support/data/directory.ts'
import { openProcess } from './subscription-setup.ts'

/** The lists of the specification: enabled at first, and disabled at first. */
const on = [
  'comment_annotation.add',
  'comment.add',
  'comment.update',
  'comment.delete',
  'comment_annotation.status_change',
  'comment_annotation.assign',
  'comment_annotation.priority_change',
  'comment.reaction_add',
  'comment.reaction_delete',
  'huddle.create',
  'huddle.join',
]
const off = [
  'comment_annotation.suggestion_accept',
  'comment_annotation.suggestion_reject',
  'crdt.update_data',
  'recorder.done',
  'crdt.delete_data',
  'document.create',
  'document.delete',
  'permission.add',
  'permission.update',
  'permission.delete',
  'presence.join',
  'presence.leave',
  'message.attempt.exhausted',
  'enableDataProtection',
]
const groupOf: Readonly<Record<string, string>> = {
  'crdt.update_data': 'crdt',
  'recorder.done': 'recorder',
  'huddle.create': 'huddle',
  'huddle.join': 'huddle',
}
const names = [...on, ...off]
const others = ['crdt', 'recorder', 'huddle', 'webhook.test', 'toString', '__proto__', '']

const triggers = fc.uniqueArray(fc.tuple(fc.constantFrom(...names, ...others), fc.boolean()), {
  selector: ([name]) => name,
  maxLength: 6,
})
const text = fc.constantFrom('', 'a', 'b')
const step = fc.record(
  {
    useWebhookService: fc.boolean(),
    authToken: text,
    rawNotificationUrl: text,
    encodeData: fc.boolean(),
    triggers,
  },
  { requiredKeys: [] },
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

function changeOf({ useWebhookService, triggers: entries, ...config }: Step): BasicConfigPatch {
  const given = entries === undefined ? {} : { triggers: Object.fromEntries(entries) }
  return { useWebhookService, webhookServiceConfig: { ...config, ...given } }
}

/** The effective triggers by name. Names that are not triggers stay as they were written. */
class Model {
  isOn = false
  readonly config = new Map<string, unknown>()
  readonly triggers = new Map<string, boolean>()

  take({ useWebhookService, triggers: entries = [], ...config }: Step): void {
    for (const [name, value] of Object.entries(config)) this.config.set(name, value)
    const isFirst = !names.some((name) => name !== 'enableDataProtection' && this.triggers.has(name))
    if (useWebhookService === true && isFirst)
      for (const name of names) if (!this.triggers.has(name)) this.triggers.set(name, on.includes(name))
    this.isOn = useWebhookService ?? this.isOn
    const said = new Map(entries)
    for (const [name, value] of entries) this.triggers.set(name, value)
    for (const name of names) {
      const value = said.get(name) ?? said.get(groupOf[name] ?? 'none')
      if (value !== undefined) this.triggers.set(name, value)
    }
  }
}

it('[HOOK-10] after any sequence of configurations, has the same triggers as a simple model', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const { engine, configs } = await openProcess()
      const model = new Model()
      for (const each of steps) {
        const answered = await configs.updateBasic(tenant, changeOf(each))
        model.take(each)
        expect(answered).toMatchObject({
          useWebhookService: model.isOn,
          webhookServiceConfig: Object.fromEntries(model.config),
        })
        expect(answered.webhookServiceConfig.triggers).toEqual(Object.fromEntries(model.triggers))
        expect(await configs.basic(tenant)).toEqual(answered)
      }
      await engine.close()
    }),
    { numRuns: 300 },
  )
})
