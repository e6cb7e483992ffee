import { defineCapability } from '../../rest/capability.ts'
import { CallbackCaller } from './callback-caller.ts'
import { CallbackDecider } from './callback-decider.ts'
import { DocumentLoader } from './document-loader.ts'

declare module '../../rest/services.ts' {
  interface Services {
    readonly callbacks: CallbackCaller
  }
}

/** Calls of the backends of API keys: `authorize` decides about users, `load` gives content. */
export const callbacks = defineCapability({
  name: 'callbacks',
  create(services) {
    const callbacks = new CallbackCaller(services)
    return {
      callbacks,
      decider: new CallbackDecider(callbacks, services.subscriptions, services.clock),
      loader: new DocumentLoader({ ...services, callbacks }),
    }
  },
  async flush({ callbacks }) {
    callbacks.end()
  },
})
