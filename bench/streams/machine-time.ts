/** Returns a time in ms on the clock that all processes of the machine share. Its zero is arbitrary. */
export const machineMs = (): number => Number(process.hrtime.bigint()) / 1e6
