import {
  CachingDirectoryReader,
  type DirectoryReader,
} from '../../../core/directory/store/directory-reader.ts'
import { type Transaction, TransactionRunner } from '../../../core/directory/store/transaction.ts'
import type { Kv } from '../../../core/store/engine.ts'
import { DeliveryChange } from './delivery-change.ts'
import { deliveriesPart } from './delivery-keys.ts'
import type { TargetAddress } from './delivery-records.ts'

/** Stores the messages of targets. Each target has its own partition. */
export class DeliveryStore {
  readonly kv: Kv
  readonly #transactions: TransactionRunner

  constructor(kv: Kv) {
    this.kv = kv
    this.#transactions = new TransactionRunner(kv)
  }

  /**
   * Returns a reader that callers must use for one operation only. The reader caches records, so it may
   * return an outdated record when the same record is read again.
   */
  read(address: TargetAddress): DirectoryReader {
    return new CachingDirectoryReader(this.kv, deliveriesPart(address))
  }

  /**
   * Runs one change of the messages of a target. Changes of the same target run one after the other.
   * @throws ApiError ABORTED if conflicts with concurrent changes continue; the errors of `work`
   */
  async change<T>(address: TargetAddress, work: (change: DeliveryChange) => Promise<T>): Promise<T> {
    return (await this.run(address, work)).result
  }

  /** Like `change`, but also returns the committed transaction. */
  run<T>(
    address: TargetAddress,
    work: (change: DeliveryChange) => Promise<T>,
  ): Promise<{ readonly result: T; readonly transaction: Transaction }> {
    return this.#transactions.run(deliveriesPart(address), (transaction) =>
      DeliveryChange.run(transaction, work),
    )
  }
}
