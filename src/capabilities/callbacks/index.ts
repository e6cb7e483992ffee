import { defineCapability } from '../../rest/capability.ts'
import { deleteCallbacks } from './api/v2/workspace/callbacks/delete.ts'
import { getCallbacks } from './api/v2/workspace/callbacks/get.ts'
import { getCallbackSecret } from './api/v2/workspace/callbacks/secret/get.ts'
import { rotateCallbackSecret } from './api/v2/workspace/callbacks/secret/rotate.ts'
import { updateCallbacks } from './api/v2/workspace/callbacks/update.ts'
import { CallbackCaller } from './callback-caller.ts'
import { CallbackDecider } from './callback-decider.ts'
import { DocumentLoader } from './document-loader.ts'

interface Added {
  readonly callbacks: CallbackCaller
}

declare module '../../rest/services.ts' {
  interface Services extends Added {}
}

/** Calls of the backends of API keys: `authorize` decides about users, `load` gives content. */
export const callbacks = defineCapability({
  name: 'callbacks',
  operations: [updateCallbacks, getCallbacks, deleteCallbacks, getCallbackSecret, rotateCallbackSecret],
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
