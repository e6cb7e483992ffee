import {
  type CredentialSources,
  checkCredentials,
  requireTenant,
} from '../../../core/directory/tenants/bootstrap.ts'
import { TenantStore } from '../../../core/directory/tenants/tenant-store.ts'
import type { Tenant } from '../../../core/model/address.ts'
import {
  directoryOf,
  hasStore,
  type OfflineStore,
  openForReading,
  type StoreLocation,
} from './offline-store.ts'

/**
 * Opens the store of a stopped server in order to read the documents of one API key.
 * @throws BootstrapError if the store does not have the API key; StorageError, EngineOpenError
 */
export async function openTenant(place: StoreLocation, tenant: Tenant): Promise<OfflineStore> {
  const store = await openForReading(place)
  try {
    await requireTenant(new TenantStore(store.engine.kv), tenant)
    return store
  } catch (error) {
    await store.close()
    throw error
  }
}

/**
 * Checks that the configured credentials agree with those in the store of a stopped server. Does nothing if
 * there is no store.
 * @throws the errors of `openTenant`
 */
export async function checkStoredCredentials(
  place: StoreLocation,
  configured: CredentialSources['configured'],
): Promise<void> {
  if (!(await hasStore(place))) return
  const store = await openForReading(place)
  try {
    const tenants = new TenantStore(store.engine.kv)
    const sources = { configured, directory: directoryOf(place), tenants, agreed: {}, first: 'kept' } as const
    await checkCredentials(sources)
  } finally {
    await store.close()
  }
}
