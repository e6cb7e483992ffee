import type { Store } from './store.ts'

/**
 * Brings a store from one format to the next, where it is, in commits of bounded size. It may end after any of them:
 * when it is called again it goes on, so what has been done must differ from what is still to be done.
 */
export type UpgradeStep = (store: Store, onShare: (share: number) => void) => Promise<void>

/** What is being done, and how much of it: from 0 to 1. */
export type UpgradeProgress = (formats: { readonly from: number; readonly to: number }, share: number) => void
