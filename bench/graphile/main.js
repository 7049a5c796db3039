// graphile-worker's jobs, of a million that are due. Its argument is the address of an empty database. It prints a line when it is
// ready; then, for each line that comes, it does a round, and prints how many microseconds a job took.

import { createInterface } from "node:readline";
import { run, runMigrations } from "graphile-worker";
import { Logger } from "graphile-worker";
import pg from "pg";

const WAITING = 1_000_000;
const A_ROUND = 20_000;
// So many are worked on at once, and so many are taken at once.
const CONCURRENCY = 100;
const LOCAL_QUEUE = 500;

const pgPool = new pg.Pool({ connectionString: process.argv[2], max: 16 });
pgPool.on("error", (problem) => console.error(problem));
pgPool.on("connect", (client) => client.on("error", (problem) => console.error(problem)));
const logger = new Logger(() => () => {});
await runMigrations({ pgPool, logger });
await pgPool.query(
  "SELECT count(*) FROM graphile_worker.add_jobs(ARRAY(SELECT json_populate_record(NULL::graphile_worker.job_spec," +
    " '{\"identifier\": \"nothing\"}') FROM generate_series(1, $1)))",
  [WAITING],
);
await pgPool.query("VACUUM ANALYZE");

async function round() {
  let done = 0;
  let tell;
  const all = new Promise((resolve) => (tell = resolve));
  const nothing = () => {
    done += 1;
    if (done === A_ROUND) tell();
  };
  const started = performance.now();
  const runner = await run({
    pgPool,
    logger,
    noHandleSignals: true,
    taskList: { nothing },
    preset: {
      worker: {
        concurrentJobs: CONCURRENCY,
        pollInterval: 100,
        localQueue: { size: LOCAL_QUEUE },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    },
  });
  await all;
  const took = performance.now() - started;
  await runner.stop();
  return (took * 1000) / A_ROUND;
}

console.log("ready");
for await (const _line of createInterface({ input: process.stdin })) {
  console.log(await round());
}
await pgPool.end();
