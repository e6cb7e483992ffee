import { changeJob } from '../../../core/events/change-jobs.ts'
import type { DocumentAddress, Tenant } from '../../../core/model/address.ts'
import type { Engine, Job } from '../../../core/store/engine.ts'
import { type ConfigSnapshot, readConfigSnapshot, wantsChanges } from '../../webhooks/config-snapshot.ts'

/**
 * The jobs that add imported documents to the change feed of their API key, and that send them to the callback
 * `store`. The server runs them after its next start. Webhooks get no events of an import.
 */
export class ImportEvents {
  readonly #kv: Engine['kv']
  readonly #configs = new Map<string, ConfigSnapshot>()

  constructor(kv: Engine['kv']) {
    this.#kv = kv
  }

  /** Reads the configuration of an API key. Must be called before the other methods. */
  async load(tenant: Tenant): Promise<void> {
    const name = nameOf(tenant)
    if (!this.#configs.has(name)) this.#configs.set(name, await readConfigSnapshot(this.#kv, tenant))
  }

  /** Returns whether the change feed of an API key is on. */
  hasFeed(tenant: Tenant): boolean {
    return this.#configOf(tenant).feed.enabled
  }

  /** Returns the jobs that must be durable with a change of an editor, or before it. */
  jobsOf(address: DocumentAddress): readonly Job[] {
    return wantsChanges(this.#configOf(address)) ? [changeJob(address)] : []
  }

  #configOf(tenant: Tenant): ConfigSnapshot {
    const config = this.#configs.get(nameOf(tenant))
    if (config === undefined) throw new Error('the configuration was not loaded')
    return config
  }
}

const nameOf = ({ workspaceId, apiKey }: Tenant): string => JSON.stringify([workspaceId, apiKey])
