// River's jobs, of a million that are due. Its argument is the address of an empty database. It prints a line when it is ready;
// then, for each line that comes, it does a round, and prints how many microseconds a job took.
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

const (
	waiting = 1_000_000
	aRound  = 20_000
	// So many are inserted at once.
	batch = 10_000
)

// Nothing is a job that does nothing.
type Nothing struct{}

// Kind names it.
func (Nothing) Kind() string { return "nothing" }

// Worker counts jobs.
type Worker struct {
	river.WorkerDefaults[Nothing]
	done *atomic.Int64
	all  chan struct{}
}

// Work does nothing.
func (w *Worker) Work(context.Context, *river.Job[Nothing]) error {
	if w.done.Add(1) == aRound {
		close(w.all)
	}
	return nil
}

func main() {
	if err := run(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, url string) error {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := fill(ctx, pool); err != nil {
		return err
	}
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		took, err := round(ctx, pool)
		if err != nil {
			return err
		}
		fmt.Println(float64(took.Microseconds()) / aRound)
	}
	return nil
}

func fill(ctx context.Context, pool *pgxpool.Pool) error {
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	if err != nil {
		return err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	client, err := river.NewClient[pgx.Tx](riverpgxv5.New(pool), &river.Config{})
	if err != nil {
		return err
	}
	jobs := make([]river.InsertManyParams, batch)
	for i := range jobs {
		jobs[i] = river.InsertManyParams{Args: Nothing{}}
	}
	for range waiting / batch {
		if _, err := client.InsertManyFast(ctx, jobs); err != nil {
			return err
		}
	}
	_, err = pool.Exec(ctx, "VACUUM ANALYZE")
	return err
}

// A round, with the settings of River's own benchmark.
func round(ctx context.Context, pool *pgxpool.Pool) (time.Duration, error) {
	worker := &Worker{done: &atomic.Int64{}, all: make(chan struct{})}
	workers := river.NewWorkers()
	river.AddWorker(workers, worker)
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		FetchCooldown:     2 * time.Millisecond,
		FetchPollInterval: 20 * time.Millisecond,
		Logger:            slog.New(slog.NewTextHandler(io.Discard, nil)),
		Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: river.QueueNumWorkersMax}},
		Workers:           workers,
	})
	if err != nil {
		return 0, err
	}
	started := time.Now()
	if err := client.Start(ctx); err != nil {
		return 0, err
	}
	<-worker.all
	took := time.Since(started)
	return took, client.Stop(ctx)
}
