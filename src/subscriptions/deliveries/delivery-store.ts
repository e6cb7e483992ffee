import { CachingDirectoryReader, type DirectoryReader } from '../../directory/store/directory-reader.ts'
import { type Transaction, TransactionRunner } from '../../directory/store/transaction.ts'
import type { Kv } from '../../engine/engine.ts'
import { DeliveryChange } from './delivery-change.ts'
import { deliveriesPart } from './delivery-keys.ts'
import type { TargetAddress } from './delivery-records.ts'

/** Where the messages of targets are kept: a partition each. */
export class DeliveryStore {
  readonly kv: Kv
  readonly #transactions: TransactionRunner

  constructor(kv: Kv) {
    this.kv = kv
    this.#transactions = new TransactionRunner(kv)
  }

  /** For one call: what is read again is not sure to be as it was. */
  read(address: TargetAddress): DirectoryReader {
    return new CachingDirectoryReader(this.kv, deliveriesPart(address))
  }

  /** Two changes of a target are one after the other. @throws ApiError ABORTED; what `work` throws */
  async change<T>(address: TargetAddress, work: (change: DeliveryChange) => Promise<T>): Promise<T> {
    return (await this.run(address, work)).result
  }

  /** Like `change`, with the transaction that was committed. */
  run<T>(
    address: TargetAddress,
    work: (change: DeliveryChange) => Promise<T>,
  ): Promise<{ readonly result: T; readonly transaction: Transaction }> {
    return this.#transactions.run(deliveriesPart(address), (transaction) =>
      DeliveryChange.run(transaction, work),
    )
  }
}
