/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that copy rows between pageable and pinned host memory, for stream.cu. Thread i of t copies the i-th of t equal shares. */
#include "copier.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS_MOST = 12 };
/* Below this many bytes one thread is enough. */
static const double SMALL = 16e6;

typedef struct worker {
    kfe_cuda_copier *copier;
    int number;
    pthread_t thread;
} worker;

struct kfe_cuda_copier {
    pthread_mutex_t lock;
    pthread_cond_t begin, end;
    int threads; /* beside the caller's */
    int left;    /* that have not finished the job */
    long job_number;
    int stop;
    kfe_cuda_copy_job job;
    worker workers[THREADS_MOST];
};

static void copy_row(const double *from, double *to, int64_t cols, int add)
{
    if (!add) {
        memcpy(to, from, (size_t)cols * sizeof *to);
        return;
    }
    for (int64_t j = 0; j < cols; j++)
        to[j] += from[j];
}

static void copy_share(const kfe_cuda_copy_job *job, int share, int shares)
{
    int64_t first = job->rows * share / shares;
    int64_t last = job->rows * (share + 1) / shares;

    if (!job->add && job->from_stride == job->cols && job->to_stride == job->cols) {
        memcpy(job->to + first * job->cols, job->from + first * job->cols,
               (size_t)((last - first) * job->cols) * sizeof(double));
        return;
    }
    for (int64_t i = first; i < last; i++)
        copy_row(job->from + i * job->from_stride, job->to + i * job->to_stride, job->cols, job->add);
}

static void *work(void *argument)
{
    worker *w = (worker *)argument;
    kfe_cuda_copier *c = w->copier;
    long done = 0;

    pthread_mutex_lock(&c->lock);
    for (;;) {
        while (c->job_number == done && !c->stop)
            pthread_cond_wait(&c->begin, &c->lock);
        if (c->stop)
            break;
        done = c->job_number;
        kfe_cuda_copy_job job = c->job;
        int shares = c->threads + 1;
        pthread_mutex_unlock(&c->lock);
        copy_share(&job, w->number, shares);
        pthread_mutex_lock(&c->lock);
        if (--c->left == 0)
            pthread_cond_signal(&c->end);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

kfe_cuda_copier *kfe_cuda_copier_new(double bytes)
{
    kfe_cuda_copier *c = (kfe_cuda_copier *)calloc(1, sizeof *c);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    int wanted = bytes < SMALL || online < 2 ? 0 : (int)(online - 1);

    if (!c)
        return NULL;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->begin, NULL);
    pthread_cond_init(&c->end, NULL);
    pthread_mutex_lock(&c->lock); /* no thread starts before their number is known */
    for (int i = 0; i < wanted && i < THREADS_MOST; i++) {
        c->workers[i] = worker{c, i + 1, 0};
        if (pthread_create(&c->workers[i].thread, NULL, work, &c->workers[i]) != 0)
            break;
        c->threads = i + 1;
    }
    pthread_mutex_unlock(&c->lock);
    return c;
}

void kfe_cuda_copier_run(kfe_cuda_copier *c, const kfe_cuda_copy_job *job)
{
    pthread_mutex_lock(&c->lock);
    c->job = *job;
    c->left = c->threads;
    c->job_number++;
    pthread_cond_broadcast(&c->begin);
    pthread_mutex_unlock(&c->lock);
    copy_share(job, 0, c->threads + 1);
    pthread_mutex_lock(&c->lock);
    while (c->left > 0)
        pthread_cond_wait(&c->end, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

void kfe_cuda_copier_free(kfe_cuda_copier *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    c->stop = 1;
    pthread_cond_broadcast(&c->begin);
    pthread_mutex_unlock(&c->lock);
    for (int i = 0; i < c->threads; i++)
        pthread_join(c->workers[i].thread, NULL);
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->begin);
    pthread_cond_destroy(&c->end);
    free(c);
}
