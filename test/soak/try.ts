import { openAndClose } from '/work/wt-soak/test/soak/rooms.ts'
const t=Date.now()
console.log(await openAndClose(Number(process.argv[2]??2000), console.log), Date.now()-t)
process.exit(0)
