import { redisProofs } from '../../../../lib/entrypoints/revocation/index.ts'
import { CLIENTS } from '../../servers/redis-clients.ts'

/** Prints whether a proof is new to this process. Arguments: a client, a server, key and end. */
const [name, url = '', key = '', until = ''] = process.argv.slice(2)

const connect = CLIENTS.find(([each]) => each === name)?.[1]
const open = await connect?.(url)
const isFirst = open && (await redisProofs({ client: open.client })(key, new Date(until)))
process.stdout.write(JSON.stringify({ isFirst }))
open?.close()
